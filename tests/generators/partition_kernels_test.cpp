// Tiles whose input has no padding have code of their own: images with and without such tiles, built by the real generator
// and judged by the real runner.
#include <gtest/gtest.h>

#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class PartitionKernels : public BuiltKernels {
protected:
    // Of a kernel that is judged.
    int64_t object_bytes(const Workload &w, const Target &target, const Candidate &candidate) {
        const auto built = build(w, target, candidate);
        EXPECT_TRUE(built) << built.error().message;
        if (!built) return 0;
        EXPECT_EQ(problem(*built), "") << key(w) << " " << to_text(candidate);
        return built->artifact.object_bytes;
    }
};

struct Row {
    const char *key, *algorithm;
    bool has_inside = true;  // whether some tile of the default reads no padding
};

constexpr Row rows[] = {
    {"conv2d/input:1x28x28x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64", "direct"},
    {"conv2d/input:1x32x32x40/kernel:5x5x1x40/strides:2x2/padding:1,2x2,1/feature_group_count:40", "direct"},
    {"conv2d/input:1x3x2x64/kernel:7x7x1x64/padding:3,3x3,3/feature_group_count:64", "direct", false},
    {"conv2d/input:1x20x24x64/kernel:3x3x16x64/padding:1,1x1,1/feature_group_count:4/epilogue:bias,relu", "direct"},
    {"conv2d/input:2x20x16x32/kernel:3x3x1x32/padding:2,2x2,2/rhs_dilation:2x2/feature_group_count:32", "direct"},
    {"conv3d/input:1x6x12x14x32/kernel:3x3x3x1x32/padding:1,1x1,1x1,1/feature_group_count:32", "direct"},
    {"conv2d/input:1x30x26x16/kernel:3x3x16x32/padding:1,1x1,1", "winograd_4"},
    {"conv2d/input:1x5x3x16/kernel:3x3x16x32/padding:1,1x1,1", "winograd_4", false},
    {"conv2d/input:1x24x26x128/kernel:3x3x1x128/strides:2x2/padding:1,1x1,1/feature_group_count:128/dtype:i8/"
     "output_dtype:i32",
     "quantized_depthwise"},
    {"conv2d/input:1x9x9x70/kernel:3x3x1x70/padding:1,1x1,1/feature_group_count:70/dtype:u8/output_dtype:i32",
     "quantized_depthwise"},
    {"conv2d/input:1x18x18x32/kernel:3x3x32x32/padding:1,1x1,1/dtype:i8/output_dtype:i32", "quantized"},
    {"nest/loops:28x28x64/over:3x3/operands:28x28x64/reduction:maximum/reads:x0[i0+r0-1,i1+r1-1,i2]/term:x0", "nest"},
    {"nest/loops:2x3x32/over:3x3/operands:2x3x32/reduction:mean/reads:x0[i0+r0-1,i1+r1-1,i2]/term:x0", "nest", false},
};

// Halide keeps the tests where it does not take them for likely: the object is no larger then.
TEST_F(PartitionKernels, AreRightAndHaveCodeWithoutTests) {
    for (const bool is_avx2 : {true, false}) {
        const Target target = *parse_target(is_avx2 ? "avx2" : "baseline", 1, "");
        for (size_t i = 0; i < std::size(rows); i++) {
            const Row &row = rows[i];
            const auto w = parse_workload_key(row.key);
            ASSERT_TRUE(w) << w.error().message;
            const Algorithm *algorithm = find_algorithm(row.algorithm);
            if (!algorithm->applies(*w, target) || !(is_avx2 || is_turn(i, 2))) continue;
            Candidate candidate = algorithm->space(*w, target, core_of(machine_, target)).default_candidate();
            candidate.knobs.erase("partition");
            const int64_t tested = object_bytes(*w, target, candidate);
            candidate.knobs["partition"] = 1;
            const int64_t partitioned = object_bytes(*w, target, candidate);
            if (row.has_inside && is_avx2) {
                EXPECT_GT(partitioned, tested) << row.key << " " << to_text(candidate);
            }
        }
    }
}

}  // namespace
}  // namespace kiln
