// Depthwise convolutions in every layout: the default and drawn candidates of each algorithm, built by the real generator
// and judged by the real runner against the reference loops.
#include <gtest/gtest.h>

#include <string>

#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class DepthwiseKernels : public BuiltKernels {
protected:
    void expect_right(const std::string &text, const Target &target, int draws) {
        const auto workload = parse_workload_key(text);
        ASSERT_TRUE(workload) << workload.error().message;
        for (const Algorithm &algorithm : catalog()) {
            if (algorithm.reassociates || !algorithm.applies(*workload, target)) continue;
            const Space space = algorithm.space(*workload, target, core_of(machine_, target));
            EXPECT_EQ(problem(*workload, target, space.default_candidate()), "")
                << text << " " << to_text(target) << " " << to_text(space.default_candidate());
            for (int i = 0; i < draws; i++) {
                const auto candidate = space.sample(rng_);
                ASSERT_TRUE(candidate) << text << " " << algorithm.name;
                EXPECT_EQ(problem(*workload, target, *candidate), "")
                    << text << " " << to_text(target) << " " << to_text(*candidate);
            }
        }
    }

    // Whether the space has candidates with such knobs; one is checked.
    bool expect_drawn_with(const Knobs &wanted, const Workload &workload, const Target &target, const Space &space) {
        for (int i = 0; i < 200; i++) {
            const auto candidate = space.sample(rng_);
            const auto has = [&](const auto &knob) {
                const auto found = candidate->knobs.find(knob.first);
                return knob.second == (found == candidate->knobs.end() ? 0 : found->second);
            };
            if (!candidate || !std::all_of(wanted.begin(), wanted.end(), has)) continue;
            EXPECT_EQ(problem(workload, target, *candidate), "")
                << key(workload) << " " << to_text(target) << " " << to_text(*candidate);
            return true;
        }
        return false;
    }

    // The default of each algorithm for depthwise convolutions alone.
    void expect_defaults_right(const std::string &text, const Target &target) {
        const auto workload = parse_workload_key(text);
        ASSERT_TRUE(workload) << workload.error().message;
        for (const char *name : {"depthwise_turned", "depthwise_rows"}) {
            const Algorithm *algorithm = find_algorithm(name);
            ASSERT_TRUE(algorithm) << name;
            if (!algorithm->applies(*workload, target)) continue;
            const Candidate standard =
                algorithm->space(*workload, target, core_of(machine_, target)).default_candidate();
            EXPECT_EQ(problem(*workload, target, standard), "")
                << text << " " << to_text(target) << " " << to_text(standard);
        }
    }

    Rng rng_{test_seed()};
};

constexpr const char *shapes[] = {
    "conv2d/input:1x14x14x24/kernel:3x3x1x24/padding:1,1x1,1/feature_group_count:24",
    "conv2d/input:1x23x37x40/kernel:5x5x1x40/strides:2x2/padding:1,2x1,2/feature_group_count:40",
    "conv2d/input:2x7x7x72/kernel:7x7x1x72/padding:3,3x3,3/feature_group_count:72",
    "conv2d/input:1x17x33x20/kernel:3x3x1x20/strides:2x2/padding:0,1x0,1/feature_group_count:20",
    "conv2d/input:1x19x40x9/kernel:3x5x1x9/padding:2,2x4,4/rhs_dilation:2x2/feature_group_count:9",
    "conv2d/input:1x12x50x6/kernel:2x3x1x6/strides:1x3/padding:-1,2x3,-2/rhs_dilation:1x2/feature_group_count:6",
    "conv2d/input:2x9x20x10/kernel:3x3x1x20/padding:1,1x1,1/feature_group_count:10",  // a multiplier
    "conv2d/input:1x5x3x17/kernel:5x7x1x17/strides:3x4/padding:2,2x3,3/feature_group_count:17",
    "conv2d/input:1x1x70x5/kernel:1x9x1x5/padding:0,0x4,4/feature_group_count:5",
    "conv2d/input:1x30x1x5/kernel:3x1x1x5/strides:2x1/padding:1,1x0,0/feature_group_count:5",
    "conv2d/input:1x8x18x12/kernel:1x1x1x12/strides:2x2/feature_group_count:12",
    "conv2d/input:1x16x16x6/kernel:3x3x1x6/strides:5x7/padding:4,4x9,9/feature_group_count:6",
    "conv1d/input:2x41x12/kernel:5x1x12/strides:2/padding:2,2/feature_group_count:12",
    "conv3d/input:1x5x6x19x6/kernel:3x3x3x1x6/strides:2x1x2/padding:1,1x1,1x1,1/feature_group_count:6",
    "conv2d_backprop_input/input:1x13x21x12/kernel:3x3x1x24/padding:1,1x0,2/feature_group_count:12",
};

// The layouts take turns with what else a workload may ask for.
constexpr const char *layouts[] = {
    "/input_layout:NCHW/output_layout:NCHW",
    "/input_layout:NCHW8c/output_layout:NCHW8c",
    "/input_layout:NCHW",
    "/output_layout:NCHW",
    "/input_layout:NCHW/output_layout:NCHW16c",
    "/input_layout:NCHW16c/output_layout:NCHW",
    "",
};
constexpr const char *extras[] = {
    "",
    "/epilogue:bias,relu",
    "/epilogue:add,relu",
    "/dtype:bf16/epilogue:add,relu",
    "/dtype:f16/epilogue:bias,silu",
    "/output_dtype:bf16",
};

// In the order of keys.
std::string with(const std::string &shape, const std::string &extra, const std::string &layout) {
    const size_t epilogue = extra.find("/epilogue");
    const std::string dtypes = extra.substr(0, epilogue);
    return shape + dtypes + layout + (epilogue == std::string::npos ? "" : extra.substr(epilogue));
}

TEST_F(DepthwiseKernels, EveryLayout) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    size_t turn = test_seed();
    for (size_t s = 0; s < std::size(shapes); s++) {
        const char *shape = shapes[s];
        for (int i = is_turn(s) ? 2 : 1; i > 0; i--, turn++) {
            const bool gradient = std::string(shape).starts_with("conv2d_backprop");
            expect_right(
                with(shape, gradient ? "" : extras[turn % std::size(extras)], layouts[turn % std::size(layouts)]),
                target, is_turn(s + 1) ? 1 : 0);
        }
    }
}

// Images with short rows, and channels that fill neither vectors nor blocks, turned on either side or moved in pieces. Operands of
// the epilogue end where the result does.
TEST_F(DepthwiseKernels, ShortRowsAndPartsOfVectors) {
    const char *short_rows[] = {
        "conv2d/input:1x7x7x33/kernel:5x5x1x33/strides:2x2/padding:2,2x2,2/feature_group_count:33",
        "conv2d/input:2x9x5x24/kernel:3x3x1x24/padding:1,1x1,1/feature_group_count:24",
        "conv2d/input:1x13x11x8/kernel:3x5x1x8/padding:-1,2x4,-2/rhs_dilation:2x1/feature_group_count:8",
    };
    for (const Target &target : targets_of({"host", "avx2"}, 2)) {
        for (size_t s = 0; s < std::size(short_rows); s++) {
            for (size_t l = 0; l < std::size(layouts); l++) {
                if (is_turn(s + l, 2))
                    expect_defaults_right(with(short_rows[s], "/epilogue:bias,add", layouts[l]), target);
            }
        }
    }
}

// Rows with padding that are copied in vectors: in a loop where they are long, beside crops, holes between taps, and planes outside.
TEST_F(DepthwiseKernels, RowsCopiedByMasks) {
    const char *copied[] = {
        "conv2d/input:1x5x150x3/kernel:3x3x1x3/strides:2x2/padding:1,1x1,1/feature_group_count:3",
        "conv2d/input:2x9x41x5/kernel:5x5x1x5/strides:2x2/padding:3,0x-1,4/feature_group_count:5",
        "conv2d/input:1x12x27x4/kernel:3x4x1x8/strides:1x2/padding:2,2x5,3/rhs_dilation:2x3/feature_group_count:4",
        "conv2d/input:1x11x12x6/kernel:5x5x1x6/padding:2,2x2,2/feature_group_count:6",
        "conv2d/input:1x4x9x2/kernel:1x9x1x2/strides:1x2/padding:0,0x8,8/feature_group_count:2",
        "conv3d/input:1x4x5x19x3/kernel:3x3x3x1x3/strides:1x2x2/padding:1,1x1,1x1,1/feature_group_count:3",
    };
    for (const Target &target : targets_of({"host", "avx2"}, 2)) {
        for (size_t i = 0; i < std::size(copied); i++)
            expect_right(with(copied[i], "/epilogue:bias,add", layouts[0]), target, is_turn(i) ? 2 : 0);
    }
}

// Rows that are loaded once and shuffled for each tap, of one channel or of a block of them: rows that fill no vector, crops, padding
// beyond the window, gaps between taps, planes, blocks that channels fill in part, tensors that are added to the last columns.
TEST_F(DepthwiseKernels, RowsInRegisters) {
    const char *shapes_of_rows[] = {
        "conv2d/input:1x14x14x5/kernel:3x3x1x5/padding:1,1x1,1/feature_group_count:5",
        "conv2d/input:1x9x45x12/kernel:5x5x1x12/strides:2x2/padding:2,2x2,2/feature_group_count:12",
        "conv2d/input:2x7x7x9/kernel:7x7x1x9/padding:3,3x3,3/feature_group_count:9",
        "conv2d/input:1x12x70x8/kernel:3x4x1x8/strides:1x2/padding:-1,2x5,-3/feature_group_count:8",
        "conv2d/input:1x11x21x10/kernel:3x5x1x10/padding:2,2x4,4/rhs_dilation:2x2/feature_group_count:10",
        "conv2d/input:1x1x50x8/kernel:1x9x1x8/padding:0,0x8,8/feature_group_count:8",
        "conv2d/input:1x6x3x8/kernel:3x3x1x8/strides:2x2/padding:1,1x1,1/feature_group_count:8",
        "conv3d/input:1x4x5x19x8/kernel:3x3x3x1x8/strides:1x2x2/padding:1,1x1,1x1,1/feature_group_count:8",
    };
    const char *layouts_of_rows[] = {"/input_layout:NCHW/output_layout:NCHW",
                                     "/input_layout:NCHW8c/output_layout:NCHW8c",
                                     "/input_layout:NCHW4c/output_layout:NCHW4c", ""};
    int met = 0;
    for (const Target &target : targets_of({"host", "avx2"}, 2)) {
        for (size_t s = 0; s < std::size(shapes_of_rows); s++) {
            for (size_t l = 0; l < std::size(layouts_of_rows); l++) {
                if (!is_turn(s + l, 3)) continue;
                const std::string text = with(shapes_of_rows[s], "/epilogue:bias,add", layouts_of_rows[l]);
                const auto workload = parse_workload_key(text);
                ASSERT_TRUE(workload) << workload.error().message;
                const Algorithm *rows = find_algorithm("depthwise_rows");
                if (!rows->applies(*workload, target)) continue;
                met += expect_drawn_with({{"slide", 2}}, *workload, target,
                                         rows->space(*workload, target, core_of(machine_, target)));
            }
        }
    }
    const bool has_masks = vector_lanes(*parse_target("host", 1, machine_.halide_target)) >= 8;
    EXPECT_GT(met, has_masks ? 3 : -1);
}

// Windows that are summed a column after the other, of rows that are read as they lie, copied into registers, or copied in memory: planes in
// one tile, rows beyond the last, crops, padding that is wider than the window or on one side alone, gaps between columns.
TEST_F(DepthwiseKernels, ColumnsOfTheWindowInTurns) {
    const char *shapes_of_rows[] = {
        "conv2d/input:1x14x14x5/kernel:5x5x1x5/padding:2,2x2,2/feature_group_count:5",
        "conv2d/input:2x7x7x6/kernel:3x3x1x6/padding:1,1x1,1/feature_group_count:6",
        "conv2d/input:1x11x19x4/kernel:7x7x1x4/padding:3,3x3,3/feature_group_count:4",
        "conv2d/input:1x6x40x3/kernel:3x5x1x3/padding:-1,2x5,-2/feature_group_count:3",
        "conv2d/input:1x9x13x3/kernel:3x3x1x6/padding:0,4x6,0/rhs_dilation:1x2/feature_group_count:3",
        "conv2d/input:1x9x45x4/kernel:5x5x1x4/strides:2x2/padding:2,2x2,2/feature_group_count:4",
        "conv3d/input:1x4x5x19x3/kernel:3x3x3x1x3/padding:1,1x1,1x1,1/feature_group_count:3",
    };
    const Knobs read_as_they_lie{{"by_columns", 1}, {"masked", 1}}, in_registers{{"by_columns", 1}, {"slide", 2}},
        in_memory{{"by_columns", 1}, {"masked", 0}, {"slide", 1}};
    int met = 0;
    for (const Target &target : targets_of({"host", "avx2"}, 2)) {
        for (size_t s = 0; s < std::size(shapes_of_rows); s++) {
            const std::string text = with(shapes_of_rows[s], "/epilogue:bias,add", layouts[0]);
            const auto workload = parse_workload_key(text);
            ASSERT_TRUE(workload) << workload.error().message;
            const Space rows = find_algorithm("depthwise_rows")->space(*workload, target, core_of(machine_, target));
            met += expect_drawn_with(read_as_they_lie, *workload, target, rows);
            if (!is_turn(s, 3)) continue;
            met += expect_drawn_with(in_registers, *workload, target, rows);
            met += expect_drawn_with(in_memory, *workload, target, rows);
        }
    }
    const bool has_masks = vector_lanes(*parse_target("host", 1, machine_.halide_target)) >= 8;
    EXPECT_GT(met, has_masks ? 8 : -1);
}

// Blocks of the result with more vectors than the channels have.
TEST_F(DepthwiseKernels, BlocksBehindTheLastVector) {
    for (const Target &target : targets_of({"host", "avx2", "baseline"}, 1)) {
        for (const char *text : {
                 "conv2d/input:1x30x1x5/kernel:3x1x1x5/strides:2x1/padding:1,1x0,0/feature_group_count:5/"
                 "input_layout:NCHW/output_layout:NCHW16c/epilogue:bias,relu",
                 "conv2d/input:1x9x12x3/kernel:3x3x1x3/padding:1,1x1,1/feature_group_count:3/input_layout:NCHW/"
                 "output_layout:NCHW32c/epilogue:bias,add",
                 "conv2d/input:1x9x12x17/kernel:3x3x1x17/padding:1,1x1,1/feature_group_count:17/"
                 "input_layout:NCHW8c/output_layout:NCHW16c/epilogue:prelu",
             })
            expect_defaults_right(text, target);
    }
}

// Panels that fetch the lines of the next tiles together, in blocks that the channels fill and do not fill.
TEST_F(DepthwiseKernels, PanelsThatShareLines) {
    const std::string tile =
        "/pixels:4/prefetch:1/row_block:2/rows:2/share_rows:1/skip_rows:0/stage_input:0/unroll:1/unroll_columns:1/"
        "unroll_rows:1/unroll_tiles:0/vectors:1/x_block:2";
    for (const int64_t channels : {32, 24, 40}) {
        const std::string c = std::to_string(channels);
        const auto workload = parse_workload_key("conv2d/input:1x11x21x" + c + "/kernel:5x5x1x" + c +
                                                 "/strides:2x2/padding:2,2x2,2/feature_group_count:" + c);
        ASSERT_TRUE(workload) << workload.error().message;
        for (const int threads : {1, 2}) {
            const std::string text = std::string("direct@1/cpu_tile@2/inline_sum:0/panel_block:2") +
                                     (threads > 1 ? "/parallel:1" : "") + "/partition:1" + tile;
            const auto candidate = parse_candidate(text);
            ASSERT_TRUE(candidate) << candidate.error().message;
            EXPECT_EQ(problem(*workload, *parse_target("avx2", threads, ""), *candidate), "") << c << ' ' << text;
        }
    }
}

TEST_F(DepthwiseKernels, OnThreadsAndNarrowerTargets) {
    size_t turn = test_seed();
    for (size_t s = 0; s < std::size(shapes); s++, turn++) {
        const char *name = turn % 3 == 0 ? "host" : turn % 3 == 1 ? "avx2" : "baseline";
        const auto target = parse_target(name, turn % 2 ? 1 : 2, machine_.halide_target);
        ASSERT_TRUE(target);
        // Draws for three shapes on end, which have the three targets.
        if (runs(*target))
            expect_right(with(shapes[s], "", layouts[turn % std::size(layouts)]), *target, is_turn(s / 3) ? 1 : 0);
    }
}

}  // namespace
}  // namespace kiln
