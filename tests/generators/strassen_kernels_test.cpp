// Strassen's products of halves, built by the real generator and judged by the real runner: whole output, guard pages, several sets of
// inputs. The shapes are awkward on purpose.
#include <gtest/gtest.h>

#include <string>

#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class StrassenKernels : public BuiltKernels {
protected:
    static Space space(const Workload &workload, const Target &target) {
        return find_algorithm("strassen")->space(workload, target, core_of(Machine(), target));
    }

    void expect_right(const Workload &workload, const Target &target, const Candidate &candidate) {
        // Wrong channels and pixels are errors of some 1e-2.
        EXPECT_EQ(problem(workload, target, candidate, 1e-5), "")
            << key(workload) << " " << to_text(target) << " " << to_text(candidate);
    }

    // The default and one at random.
    void expect_some_right(const char *workload_key, const Target &target) {
        const auto workload = parse_workload_key(workload_key);
        ASSERT_TRUE(workload) << workload.error().message;
        const Status applies = find_algorithm("strassen")->applies(*workload, target);
        ASSERT_TRUE(applies) << workload_key << ": " << applies.error().message;
        const Space candidates = space(*workload, target);
        expect_right(*workload, target, candidates.default_candidate());
        const auto candidate = candidates.sample(rng_);
        ASSERT_TRUE(candidate) << workload_key;
        expect_right(*workload, target, *candidate);
    }

    Rng rng_{test_seed()};
};

// Channels that are odd, or whose halves fill no vectors or panels; pixels without a neighbour; strides, which read some pixels and leave
// rows apart; planes, rows and batches; types, prologues and epilogues.
constexpr const char *awkward_products[] = {
    "conv2d/input:1x7x7x64/kernel:1x1x64x64",
    "conv2d/input:1x7x9x33/kernel:1x1x33x65/epilogue:bias,relu",
    "conv2d/input:2x5x5x35/kernel:1x1x35x47/epilogue:bias,add,relu",
    "conv2d/input:3x9x8x40/kernel:1x1x40x100/strides:2x2/epilogue:bias,add",
    "conv2d/input:1x11x10x48/kernel:1x1x48x97/strides:2x3/kernel_layout:HWOI/epilogue:bias,prelu",
    "conv2d/input:1x6x7x70/kernel:1x1x70x33/epilogue:bias,gelu/prologue:scale,bias,relu",
    "conv2d/input:1x1x1x129/kernel:1x1x129x96/epilogue:bias",
    "conv2d/input:1x13x13x96/kernel:1x1x96x125/dtype:f16/epilogue:bias,add",
    "conv2d/input:1x5x13x64/kernel:1x1x64x80/dtype:bf16/output_dtype:f32/epilogue:relu",
    "conv1d/input:3x21x64/kernel:1x64x130/epilogue:bias,hard_swish",
    "conv1d/input:2x30x66/kernel:1x66x64/strides:3",
    "conv3d/input:2x3x5x4x40/kernel:1x1x1x40x36/strides:2x1x1/epilogue:bias",
};

TEST_F(StrassenKernels, AwkwardShapesOnThisMachine) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (size_t i = 0; i < std::size(awkward_products); i++) {
        if (is_turn(i)) expect_some_right(awkward_products[i], target);
    }
}

TEST_F(StrassenKernels, AwkwardShapesOnNarrowerTargetsAndThreads) {
    const std::pair<const char *, int> targets[] = {{"baseline", 1}, {"avx2", 1}, {"host", 3}};
    for (size_t i = 0; i < std::size(awkward_products); i++) {
        if (!is_turn(i)) continue;
        const auto &[name, threads] = targets[(i / runs_of_a_table + test_seed()) % std::size(targets)];
        const Target target = *parse_target(name, threads, machine_.halide_target);
        if (adds_to_host(target)) expect_some_right(awkward_products[i], target);
    }
}

// Threads get rows, blocks of channels or blocks of pixels, with counts that do not divide.
TEST_F(StrassenKernels, EverySplitOverThreads) {
    const Target target = *parse_target("host", 3, machine_.halide_target);
    const Workload workload = *parse_workload_key("conv2d/input:2x13x11x64/kernel:1x1x64x200/strides:2x2/epilogue:add");
    for (int64_t split : {1, 2, 3}) {
        Candidate candidate = space(workload, target).default_candidate();
        candidate.knobs["parallel"] = split;
        for (const char *name : {"tiles_x", "tiles_y", "block_x", "block_y", "vectors", "panel_block"})
            candidate.knobs[name] = 1;
        candidate.knobs["stage_rows"] = 0;
        candidate.knobs.erase("fetch_panels");
        expect_right(workload, target, candidate);
    }
}

}  // namespace
}  // namespace kiln
