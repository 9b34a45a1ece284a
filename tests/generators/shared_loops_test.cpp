// Each way in which threads share a convolution, with counts that do not divide: built by the real generator and judged by the
// real runner.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class SharedLoops : public BuiltKernels {};

TEST_F(SharedLoops, AreRight) {
    constexpr const char *keys[] = {
        "conv2d/input:2x13x11x24/kernel:1x1x24x40/epilogue:bias,add,relu",
        "conv2d/input:1x17x19x16/kernel:3x3x16x24/padding:1,1x1,1",
        "conv2d/input:1x17x19x16/kernel:3x3x16x24/strides:2x2/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW8c",
        "conv2d/input:1x19x15x16/kernel:5x5x1x16/padding:2,2x2,2/feature_group_count:16",
        "conv2d/input:1x13x11x24/kernel:1x1x6x40/feature_group_count:4",
        "conv3d/input:1x5x9x8x8/kernel:3x3x3x8x16/padding:1,1x1,1x1,1",
    };
    const Target target = *parse_target("host", 3, machine_.halide_target);
    std::array<size_t, 3> tried{};
    for (const char *key : keys) {
        const Workload workload = *parse_workload_key(key);
        const Space space = find_algorithm("direct")->space(workload, target, core_of(machine_, target));
        for (const auto &[shared, x_block] : {std::pair{1, 1}, {2, 1}, {3, 1}, {3, 2}, {3, 3}}) {
            Candidate candidate = space.default_candidate();
            candidate.knobs["parallel"] = shared, candidate.knobs["x_block"] = x_block;
            candidate.knobs["panel_block"] = candidate.knobs["row_block"] = 1;
            if (!space.check(candidate))
                continue;  // the last tile is not in the same block as the one that it is moved onto
            EXPECT_EQ(problem(workload, target, candidate), "") << to_text(candidate);
            tried[shared - 1]++;
        }
    }
    for (const size_t count : tried) EXPECT_GE(count, std::size(keys)) << "one of the blocks of pixels fits each";
}

TEST_F(SharedLoops, CopiesOfTheirInputAreRight) {
    const Target target = *parse_target("host", 3, machine_.halide_target);
    const Workload workload = *parse_workload_key("conv2d/input:1x17x19x16/kernel:3x3x16x32/padding:1,1x1,1");
    const Space space = find_algorithm("direct")->space(workload, target, core_of(machine_, target));
    for (int64_t staged : {0, 1, 2}) {
        Candidate candidate = space.default_candidate();
        candidate.knobs["parallel"] = 3, candidate.knobs["x_block"] = 2, candidate.knobs["row_block"] = 1;
        candidate.knobs["vectors"] = 2, candidate.knobs["panel_block"] = 1;  // with AVX-512 one panel
        candidate.knobs["pixels"] = 5;  // tiles of 19 pixels, the last of which is moved onto the third
        candidate.knobs["stage_input"] = staged;
        candidate.knobs["unroll_tiles"] = 0;
        if (staged) candidate.knobs.erase("partition");
        EXPECT_EQ(problem(workload, target, candidate), "") << to_text(candidate);
    }
}

}  // namespace
}  // namespace kiln
