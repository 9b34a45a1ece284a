// Quantized kernels that LLVM gives SSE4A when it compiles them for the CPU with VNNI that Halide knows. They are built all the same,
// without it.
#include <gtest/gtest.h>

#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

using IceLakeKernels = BuiltKernels;

TEST_F(IceLakeKernels, AreBuiltWhereTheFirstObjectHasInstructionsOfOthers) {
    const struct {
        const char *workload, *candidate;
    } table[] = {
        {"conv2d/input:3x14x19x3/kernel:1x1x1x3/strides:1x4/padding:0,0x1,0/feature_group_count:3/dtype:u8/"
         "input_layout:NCHW5c/"
         "output_layout:NCHW5c/kernel_layout:HWOI/epilogue:bias,requantize_litert/kernel_zero_point:true",
         "quantized@1/cpu_tile@2/inline_sum:1/panel_block:1/pixels:2/row_block:1/rows:7/stage_input:2/unroll:1/"
         "unroll_tiles:0/"
         "vectors:1/x_block:1"},
        {"conv2d/input:2x14x23x1/kernel:5x5x1x16/strides:2x1/padding:13,11x6,6/rhs_dilation:3x3/dtype:u8/"
         "output_dtype:i8/"
         "input_layout:NCHW16c/output_layout:NCHW/kernel_layout:HWOI/epilogue:bias,requantize_litert",
         "quantized@1/cpu_tile@2/panel_block:1/pixels:7/row_block:13/rows:1/stage_input:0/unroll:1/unroll_columns:0/"
         "unroll_rows:0/unroll_tiles:0/vectors:1/x_block:2"},
    };
    const Target target = *parse_target("avx512vnni", 1, "");
    for (const auto &row : table) {
        SCOPED_TRACE(row.workload);
        const auto workload = parse_workload_key(row.workload);
        ASSERT_TRUE(workload) << workload.error().message;
        const auto candidate = parse_candidate(row.candidate);
        ASSERT_TRUE(candidate) << candidate.error().message;
        const auto built = build(*workload, target, *candidate);
        EXPECT_TRUE(built) << built.error().message;
    }
}

}  // namespace
}  // namespace kiln
