// Winograd convolutions of every tile size, built by the real generator and judged by the real runner: whole output,
// guard pages, several sets of inputs. The shapes are awkward on purpose.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedules/spaces/winograd/winograd_rules.h"
#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class WinogradKernels : public BuiltKernels {
protected:
    // A wrong tap or index is an error of some 1e-3 and more. Arithmetic is f32 whatever the operands, unless demoted;
    // the usual points (1) lose several times more than those of least error (0): 1.4e-4 with F(6, 5) by F(6, 4).
    static double budget(const Candidate &c) {
        const auto knobs = *decode_knobs<WinogradKnobs>(c.knobs);
        if (knobs.demote) return 0.05;
        return knobs.points ? 5e-4 : 1e-4;
    }

    void expect_right(const Workload &workload, const Target &target, const Candidate &candidate) {
        EXPECT_EQ(problem(workload, target, candidate, budget(candidate)), "")
            << key(workload) << " " << to_text(target) << " " << to_text(candidate);
    }

    Space space(int m, const Workload &workload, const Target &target) const {
        return find_algorithm("winograd_" + std::to_string(m))->space(workload, target, core_of(machine_, target));
    }

    // The default and one random candidate of F(m, r) for an m that walks through those that apply.
    void expect_some_right(const std::string &workload_key, const Target &target) {
        const auto workload = parse_workload_key(workload_key);
        ASSERT_TRUE(workload) << workload.error().message;
        std::vector<int> applying;
        for (int m = 2; m <= 6; m++) {
            if (find_algorithm("winograd_" + std::to_string(m))->applies(*workload, target)) applying.push_back(m);
        }
        ASSERT_FALSE(applying.empty()) << workload_key;
        const int m = applying[next_m_++ % applying.size()];
        const Space candidates = space(m, *workload, target);
        expect_right(*workload, target, candidates.default_candidate());
        const auto candidate = candidates.sample(rng_);
        ASSERT_TRUE(candidate) << workload_key;
        expect_right(*workload, target, *candidate);
    }

    Rng rng_{test_seed()};
    uint64_t next_m_ = test_seed();
};

// One channel, channels that do not fill vectors or panels, tiles that do not fill the image, asymmetric and negative
// padding, flat and tall kernels, ranks 1 and 3, batches, every layout, epilogue and type.
constexpr const char *awkward[] = {
    "conv2d/input:1x9x9x1/kernel:3x3x1x1",
    "conv2d/input:2x13x11x17/kernel:3x3x17x7/padding:1,1x1,1/epilogue:bias",
    "conv2d/input:1x7x7x33/kernel:3x3x33x65/padding:1,1x1,1/epilogue:add,relu",
    "conv2d/input:1x7x9x33/kernel:3x3x33x37/padding:1,1x1,1/output_layout:NCHW8c/epilogue:bias,prelu,add",
    "conv2d/input:1x7x9x33/kernel:3x3x33x37/padding:1,1x1,1/epilogue:bias,scale/prologue:scale,bias,relu",
    "conv2d/input:1x15x17x20/kernel:3x3x20x36/strides:2x2/padding:1,1x1,1/input_layout:NCHW8c/prologue:bias,relu",
    "conv2d/input:3x9x8x3/kernel:3x3x3x17/padding:-1,1x2,-2/epilogue:bias,add,clamp:-1:1.5",
    "conv2d/input:1x30x31x32/kernel:3x3x32x50/padding:0,2x2,0",
    "conv2d/input:1x17x17x16/kernel:1x7x16x16/padding:0,0x3,3/kernel_layout:HWOI",
    "conv2d/input:1x17x17x16/kernel:7x1x16x16/padding:3,3x0,0/epilogue:relu",
    "conv2d/input:2x6x40x16/kernel:1x3x16x33/input_layout:NCHW",
    "conv2d/input:1x9x12x7/kernel:5x4x7x10/padding:2,2x1,2",
    "conv2d/input:2x9x11x20/kernel:3x3x20x36/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW/epilogue:bias,add",
    "conv2d/input:2x9x11x20/kernel:3x3x20x36/padding:1,1x1,1/input_layout:NCHW16c/output_layout:NCHW8c/epilogue:bias",
    "conv2d/input:2x1x32x16/kernel:1x3x16x16/padding:1,1x1,1",
    "conv1d/input:2x50x12/kernel:5x12x20/padding:2,2",
    "conv3d/input:2x4x6x5x8/kernel:1x3x3x8x9/padding:0,0x1,1x1,1",
    "conv3d/input:2x4x6x5x8/kernel:1x3x3x8x9/padding:0,0x1,1x1,1/input_layout:NCHW/output_layout:NCHW",
    "conv2d/input:1x12x12x16/kernel:3x3x16x33/dtype:f16/epilogue:bias,add",
    "conv2d/input:1x12x12x20/kernel:3x3x20x33/dtype:bf16/output_dtype:f32/input_layout:NCHW",
    "conv2d/input:1x12x12x16/kernel:2x3x16x17/padding:1,0x2,1/output_dtype:bf16",
    // groups
    "conv2d/input:2x9x11x48/kernel:3x3x16x48/padding:1,1x1,1/feature_group_count:3/epilogue:bias,add,relu",
    "conv2d/input:1x12x13x32/kernel:5x3x16x64/padding:2,2x1,1/feature_group_count:2/input_layout:NCHW/"
    "output_layout:NCHW8c/epilogue:bias",
    "conv2d/input:1x13x12x40/kernel:3x3x8x80/padding:2,2x2,2/rhs_dilation:2x2/feature_group_count:5/dtype:bf16",
    "conv2d/input:1x7x9x64/kernel:3x1x32x160/feature_group_count:2/input_layout:NCHW16c/kernel_layout:HWOI",
    "conv2d_backprop_input/input:1x9x10x64/kernel:3x3x32x48/padding:1,1x1,1/feature_group_count:2",
    "conv2d/input:1x8x9x48/kernel:3x3x16x48/padding:1,1x1,1/feature_group_count:3/output_layout:NCHW32c/epilogue:bias",
    "conv2d_backprop_input/input:2x13x11x17/kernel:3x3x17x7/padding:1,1x1,1",
    "conv2d_backprop_input/input:1x9x12x20/kernel:3x4x20x33/padding:0,2x4,1/input_layout:NCHW/kernel_layout:HWOI",
    "conv2d_backprop_input/input:1x12x10x33/kernel:5x1x33x16/padding:4,3x0,0/dtype:bf16/output_layout:NCHW8c",
    "conv1d_backprop_input/input:3x30x8/kernel:4x8x24/padding:1,2",
    "conv2d/input:2x15x17x20/kernel:3x3x20x36/padding:2,3x1,4/rhs_dilation:3x2/epilogue:bias,add,relu",
    // phases and images of few tiles, of which a block has several
    "conv2d/input:1x13x14x16/kernel:3x3x16x40/padding:5,5x5,5/rhs_dilation:5x5/epilogue:bias,relu",
    "conv2d/input:6x7x5x20/kernel:3x3x20x36/padding:1,1x1,1/output_layout:NCHW/epilogue:bias,add",
    "conv2d/input:5x4x6x16/kernel:3x3x16x48/padding:1,1x1,1/dtype:bf16",
    "conv2d/input:1x14x18x33/kernel:3x3x33x20/strides:2x2/padding:2,2x4,3/rhs_dilation:2x4/output_layout:NCHW8c",
    "conv2d/input:2x15x17x20/kernel:3x3x20x36/strides:2x2/padding:2,2x1,3/rhs_dilation:2x2/epilogue:bias,add",
    "conv1d/input:2x41x12/kernel:3x12x20/strides:4/padding:4,4/rhs_dilation:4/input_layout:NCHW/output_layout:NCHW8c",
    "conv1d/input:2x41x12/kernel:3x12x20/padding:4,4/rhs_dilation:4/dtype:bf16/input_layout:NCHW/epilogue:add",
    "conv2d_backprop_input/input:1x12x11x20/kernel:3x3x20x24/padding:2,3x1,4/rhs_dilation:3x2/output_layout:NCHW",
    "conv2d/input:1x19x21x16/kernel:3x3x16x33/strides:2x2/padding:1,1x1,1/epilogue:bias,relu",
    "conv2d/input:2x14x13x32/kernel:3x3x32x20/strides:2x2/padding:0,1x0,1/epilogue:bias,add,relu",
    "conv2d/input:2x15x17x20/kernel:3x3x20x36/strides:2x2/padding:1,1x-1,2/epilogue:bias,prelu",
    "conv2d/input:1x17x23x3/kernel:7x7x3x40/strides:2x2/padding:3,3x3,3",
    "conv2d/input:1x27x31x3/kernel:11x11x3x24/strides:4x4/padding:2,2x2,1/epilogue:bias,relu",
    // rows of a block side by side: a part of a vector, a whole one, three
    "conv2d/input:1x14x17x3/kernel:7x7x3x20/strides:2x2/padding:3,3x3,3/dtype:f16/epilogue:bias",
    "conv2d/input:2x15x18x4/kernel:5x5x4x17/strides:2x2/padding:-1,2x3,-1/epilogue:add",
    "conv2d/input:1x13x15x8/kernel:3x3x8x20/strides:2x2/padding:1,1x1,1/prologue:scale,bias,relu",
    "conv2d/input:1x15x17x24/kernel:3x3x24x20/strides:2x2/padding:1,1x1,1/epilogue:bias,relu",
    "conv2d/input:1x9x25x1/kernel:4x3x1x1/strides:1x3/padding:2,2x4,2/rhs_dilation:1x2/output_layout:NCHW/"
    "epilogue:bias",
    "conv2d/input:1x13x14x12/kernel:3x3x12x24/padding:1,1x1,1",
    "conv2d/input:1x17x18x48/kernel:5x5x48x16/strides:2x2/padding:2,2x1,2/kernel_layout:HWOI/epilogue:add",
    "conv2d/input:1x14x15x16/kernel:4x3x16x17/strides:2x1/padding:1,1x1,1/output_layout:NCHW",
    "conv2d/input:1x20x22x16/kernel:5x5x16x16/strides:3x3/padding:2,2x1,0",
    "conv2d/input:2x13x19x16/kernel:1x3x16x24/strides:2x2/padding:0,0x1,1",
    "conv2d/input:2x13x19x24/kernel:3x1x24x24/strides:2x3/padding:1,1x0,2/output_layout:NCHW8c",
    "conv2d/input:2x13x19x20/kernel:3x3x20x36/strides:2x2/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW",
    "conv2d/input:2x13x19x32/kernel:3x3x32x36/strides:2x2/padding:1,1x1,1/input_layout:NCHW16c/output_layout:NCHW8c",
    "conv2d/input:3x1x29x16/kernel:1x3x16x16/strides:1x2/padding:0,0x1,1/input_layout:NCHW8c",
    "conv2d/input:1x13x19x32/kernel:3x3x32x36/strides:2x2/padding:1,1x1,1/dtype:bf16",
    "conv2d/input:1x19x23x16/kernel:3x3x16x16/strides:2x2/padding:2,1x1,3/rhs_dilation:1x3",
    "conv1d/input:3x45x16/kernel:5x16x20/strides:2/padding:2,2/epilogue:bias",
    "conv2d/input:2x2x18x16/kernel:2x3x16x16/strides:2x2",  // images of one block of rows
    "conv2d/input:4x1x19x16/kernel:3x3x16x16/strides:3x2/padding:1,1x1,1",
    "conv3d/input:2x5x9x11x16/kernel:1x3x3x16x9/strides:2x2x2/padding:0,0x1,1x1,1",
    "conv2d_backprop_input/input:1x9x12x20/kernel:3x3x20x32/padding:1,1x0,2/lhs_dilation:2x2",
};

TEST_F(WinogradKernels, AwkwardShapesOnThisMachine) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (size_t i = 0; i < std::size(awkward); i++) {
        if (is_turn(i)) expect_some_right(awkward[i], target);
    }
}

TEST_F(WinogradKernels, AwkwardShapesOnNarrowerTargetsAndThreads) {
    const std::pair<const char *, int> targets[] = {{"baseline", 1}, {"avx2", 1}, {"host", 3}};
    size_t tried = 0;
    for (size_t i = 0; i < std::size(awkward); i++) {
        if (!is_turn(i)) continue;
        const auto &[name, threads] = targets[(i / runs_of_a_table + test_seed()) % std::size(targets)];
        const Target target = *parse_target(name, threads, machine_.halide_target);
        if (!adds_to_host(target)) continue;
        expect_some_right(awkward[i], target);
        tried++;
    }
    // All but those for AVX2, where that is the host or is missing.
    EXPECT_GE(tried, std::size(awkward) / runs_of_a_table / std::size(targets) * 2);
}

// Threads get rows of tiles, blocks of channels or blocks of tiles, with counts that do not divide.
TEST_F(WinogradKernels, EverySplitOverThreads) {
    const Target target = *parse_target("host", 3, machine_.halide_target);
    const Workload workload = *parse_workload_key("conv2d/input:2x22x13x40/kernel:3x3x40x72/padding:1,1x1,1");
    for (int64_t split : {1, 2, 3}) {
        Candidate candidate = space(4, workload, target).default_candidate();
        candidate.knobs["parallel"] = split;
        candidate.knobs["tiles_y"] = candidate.knobs["block_y"] = 1;
        candidate.knobs["vectors"] = candidate.knobs["panel_block"] = 1;
        if (split == 3) candidate.knobs["tiles_x"] = candidate.knobs["block_x"] = 1;
        expect_right(workload, target, candidate);
    }
}

// Memory is laid out for more columns, rows and vectors than blocks of 4x8 tiles have, also of the last blocks, which are not whole.
TEST_F(WinogradKernels, FrequenciesAreKeptApart) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    const Workload workload = *parse_workload_key("conv2d/input:1x39x22x64/kernel:3x3x64x64/padding:1,1x1,1");
    const WinogradFacts facts = winograd_facts(conv_loops(workload), 4, target, core_of(machine_, target));
    for (int64_t tile_major : {0, 1}) {
        for (int64_t stage_rows : {0, 1}) {
            Candidate candidate = space(4, workload, target).default_candidate();
            candidate.knobs["block_x"] = candidate.knobs["tiles_x"] = 4;
            candidate.knobs["block_y"] = 8, candidate.knobs["tiles_y"] = 1;
            candidate.knobs["vectors"] = 1, candidate.knobs["panel_block"] = 4;
            candidate.knobs["tile_major"] = tile_major, candidate.knobs["stage_rows"] = stage_rows;
            candidate.knobs.erase("fetch_panels");  // of whole blocks alone
            const auto knobs = *decode_knobs<WinogradKnobs>(candidate.knobs);
            EXPECT_NE(stored_transformed(facts, knobs), transformed_tiles(facts, knobs));
            EXPECT_NE(stored_products(facts, knobs), product_tiles(knobs));
            expect_right(workload, target, candidate);
        }
    }
}

// Rows that are copied first, turned or in pieces of vectors: columns that fill no tile, padding of every kind, channels that fill no
// vector, planes, images of one block, conversions and a gradient.
TEST_F(WinogradKernels, CopiedRows) {
    struct Row {
        int m;
        const char *key;
        Knobs knobs;
    };
    const Row rows[] = {
        {4,
         "conv2d/input:2x9x11x20/kernel:3x3x20x36/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW/epilogue:add",
         {}},
        {2,
         "conv2d/input:1x19x37x16/kernel:3x3x16x24/padding:0,2x-1,2/input_layout:NCHW",
         {{"block_x", 5}, {"tiles_x", 5}, {"vectors", 1}}},
        {3,
         "conv2d/input:1x13x26x32/kernel:5x4x32x16/padding:2,2x3,0/input_layout:NCHW/epilogue:bias",
         {{"block_x", 5}, {"tiles_x", 5}, {"vectors", 1}, {"stage_rows", 1}}},
        {3,
         "conv2d/input:4x6x5x17/kernel:3x3x17x16/padding:1,1x1,1/input_layout:NCHW",
         {{"images", 2}, {"tile_images", 2}, {"block_x", 2}, {"tiles_x", 1}, {"block_y", 2}}},
        {6, "conv2d/input:1x7x3x24/kernel:1x3x24x16/padding:0,0x2,2/input_layout:NCHW/output_layout:NCHW8c", {}},
        {4, "conv2d/input:1x12x15x24/kernel:3x3x24x16/padding:1,1x1,1/input_layout:NCHW4c/epilogue:bias", {}},
        {2, "conv2d/input:1x11x14x16/kernel:3x3x16x16/padding:1,1x1,1/input_layout:NCHW/prologue:bias,relu", {}},
        {4,
         "conv3d/input:2x4x6x5x32/kernel:1x3x3x32x9/padding:0,0x1,1x1,1/input_layout:NCHW/output_layout:NCHW",
         {{"block_x", 2}, {"block_y", 2}}},
        {2, "conv2d_backprop_input/input:1x9x12x20/kernel:3x4x20x33/padding:0,2x2,1/output_layout:NCHW", {}},
    };
    for (const Target &target : targets_of({"host", "avx2"}, 2)) {
        for (const Row &row : rows) {
            const auto workload = parse_workload_key(row.key);
            ASSERT_TRUE(workload) << row.key;
            Candidate candidate = space(row.m, *workload, target).default_candidate();
            candidate.knobs["block_y"] = candidate.knobs["tiles_y"] = candidate.knobs["stage_input"] = 1;
            for (const auto &[name, value] : row.knobs) candidate.knobs[name] = value;
            if (target.threads > 1) candidate.knobs["parallel"] = 1;
            expect_right(*workload, target, candidate);
        }
    }
}

// Weights or both operands as bf16: within what bf16 can hold, and beyond what f32 would lose.
TEST_F(WinogradKernels, DemotedOperands) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    const Workload workload =
        *parse_workload_key("conv2d/input:1x12x12x32/kernel:3x3x32x32/dtype:bf16/output_dtype:f32");
    for (int64_t demote : {0, 1, 2}) {
        Candidate candidate = space(2, workload, target).default_candidate();
        candidate.knobs["demote"] = demote;
        expect_right(workload, target, candidate);
        EXPECT_EQ(problem(workload, target, candidate).empty(), demote == 0) << demote;
    }
}

// Points chosen for accuracy keep every m within the default error budget.
TEST_F(WinogradKernels, GoodPointsStayWithinTheDefaultBudget) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    const Workload workload = *parse_workload_key("conv2d/input:1x28x28x64/kernel:3x3x64x64/padding:1,1x1,1");
    for (int m = 2; m <= 6; m++) {
        EXPECT_EQ(problem(workload, target, space(m, workload, target).default_candidate()), "") << m;
    }
}

}  // namespace
}  // namespace kiln
