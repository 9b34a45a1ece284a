// How kernels come by what lies in memory, built by the real generator and judged by the real runner: weights in several streams, blocks
// of the input and results that are fetched ahead. None changes a sum.
#include <gtest/gtest.h>

#include <string>

#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class MemoryKernels : public BuiltKernels {
protected:
    // The default with the knob at 0 and at 1, where it can be, on every target that the machine runs.
    void expect_right_with(const std::string &knob, const char *workload_key, int threads) {
        const auto workload = parse_workload_key(workload_key);
        ASSERT_TRUE(workload) << workload.error().message;
        int compared = 0;
        for (const Target &target : targets_of({"baseline", "avx2", "host"}, threads)) {
            const Space space = find_algorithm("direct")->space(*workload, target, core_of(Machine(), target));
            const Candidate standard = space.default_candidate();
            EXPECT_EQ(problem(*workload, target, standard), "") << workload_key << " " << to_text(standard);
            Candidate other = standard;
            if (other.knobs.erase(knob) == 0) other.knobs[knob] = 1;
            if (!space.check(other)) continue;
            compared++;
            EXPECT_EQ(problem(*workload, target, other), "") << workload_key << " " << to_text(other);
        }
        EXPECT_GT(compared, 0) << workload_key;
    }
};

// One pixel: of vectors, images and volumes, with windows and strides; outputs that fill no panel; types, layouts and epilogues.
TEST_F(MemoryKernels, WeightsInStreams) {
    const char *const keys[] = {
        "conv1d/input:1x1x300/kernel:1x300x128/epilogue:bias,relu",
        "conv1d/input:1x1x257/kernel:1x257x147/kernel_layout:HWOI/epilogue:bias,add,relu",
        "conv2d/input:1x7x7x64/kernel:7x7x64x62/epilogue:bias",
        "conv2d/input:1x3x5x40/kernel:3x3x40x120/strides:2x3/epilogue:bias,silu/prologue:scale,bias,relu",
        "conv2d/input:1x3x3x48/kernel:3x3x48x96/strides:3x3/padding:1,0x0,1",
        "conv3d/input:1x2x2x2x64/kernel:2x2x2x64x130",
        "conv2d/input:1x1x1x320/kernel:1x1x320x96/dtype:f16/epilogue:bias",
        "conv2d/input:1x1x1x320/kernel:1x1x320x96/dtype:bf16/output_dtype:f32/epilogue:clamp:0:6",
        "conv2d/input:1x4x4x64/kernel:4x4x64x96/input_layout:NCHW16c/output_layout:NCHW/epilogue:bias",
    };
    for (size_t i = 0; i < std::size(keys); i++) {
        if (is_turn(i)) expect_right_with("streams", keys[i], i % 2 == 0 ? 1 : 2);
    }
}

TEST_F(MemoryKernels, FetchedBlocksOfTheInput) {
    const char *const keys[] = {
        "conv2d/input:1x40x30x128/kernel:1x1x128x100/epilogue:bias,hard_swish",
        "conv2d/input:3x31x17x96/kernel:1x1x96x72/epilogue:bias,add,relu",
        "conv1d/input:2x1400x57/kernel:1x57x130",
    };
    for (const char *workload_key : keys) {
        for (const int threads : {1, 3}) expect_right_with("fetch_blocks", workload_key, threads);
    }
}

// Of channels that vectors divide and do not divide.
TEST_F(MemoryKernels, FetchedDepthwiseResults) {
    const char *const keys[] = {
        "conv2d/input:1x100x81x72/kernel:5x5x1x72/strides:2x2/padding:1,2x2,2/feature_group_count:72/"
        "epilogue:bias,relu",
        "conv2d/input:2x47x40x50/kernel:3x3x1x50/padding:1,1x1,1/feature_group_count:50/epilogue:bias,add,hard_swish",
    };
    for (const char *workload_key : keys) {
        for (const int threads : {1, 2}) expect_right_with("fetch_result", workload_key, threads);
    }
}

}  // namespace
}  // namespace kiln
