// The skeleton's rows: where it applies, and its kernels against the reference loops.
#include <gtest/gtest.h>

#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class Skeleton : public BuiltKernels {
protected:
    Skeleton() : BuiltKernels("skeleton-generator") {}
};

TEST_F(Skeleton, AppliesOrSaysWhyNot) {
    struct Row {
        const char *key, *reason;  // nothing: applies
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/strides:1x2/padding:1,1x-1,2", nullptr},
        {"conv1d/input:1x8x4/kernel:3x4x8", nullptr},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/dtype:f16", "f32"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/output_layout:NCHW", "NHWC"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/kernel_layout:HWOI", "HWIO"},
        {"conv2d/input:1x8x8x4/kernel:3x3x2x8/feature_group_count:2", "groups"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/rhs_dilation:2x2", "dilation"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/epilogue:relu", "epilogue"},
        {"conv2d_backprop_input/input:1x8x8x4/kernel:3x3x4x8", "conv2d_backprop_input"},
        {"conv2d/input:1x2x2x4/kernel:3x3x4x8", "empty"},
    };
    const Target target = *parse_target("avx2", 1, "");
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << workload.error().message;
        const Status applies = find_algorithm("skeleton")->applies(*workload, target);
        EXPECT_EQ(applies.ok(), row.reason == nullptr) << row.key;
        if (applies || !row.reason) continue;
        EXPECT_NE(applies.error().message.find(row.reason), std::string::npos) << applies.error().message;
    }
}

TEST_F(Skeleton, ComputesWhatTheReferenceDoes) {
    Rng rng(test_seed());
    for (const char *key : {"conv2d/input:2x13x11x17/kernel:3x3x17x40/strides:2x1/padding:1,1x-1,2",
                            "conv2d/input:1x9x9x1/kernel:1x1x1x1", "conv1d/input:2x50x12/kernel:5x12x20/padding:2,2",
                            "conv3d/input:1x5x9x9x4/kernel:3x3x3x4x18/padding:1,1x1,1x1,1"}) {
        for (int threads : {1, 3}) {
            const Workload workload = *parse_workload_key(key);
            const Target target = *parse_target("host", threads, machine_.halide_target);
            const Space space = find_algorithm("skeleton")->space(workload, target, core_of(machine_, target));
            const auto drawn = space.sample(rng);
            ASSERT_TRUE(drawn) << key;
            for (const Candidate &candidate : {space.default_candidate(), *drawn}) {
                EXPECT_EQ(problem(workload, target, candidate), "") << key << " " << to_text(candidate);
            }
        }
    }
}

}  // namespace
}  // namespace kiln
