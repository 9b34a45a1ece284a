// Kernels that add a tensor to their sums. The runner also calls each with that tensor in the result's memory, so that one which
// computes results twice is wrong.
#include "tests/generators/judged_candidates.h"

namespace kiln {
namespace {

class AddendKernels : public JudgedCandidates {};

// Rows that tiles do not divide: in NHWC, in NCHW and in blocks; vectors of pixels, of channels side by side and turned; masked
// channels; results of phases, which are stored elsewhere; two parts of a separable convolution; every kind of depthwise kernel.
constexpr const char *added_shapes[] = {
    "conv2d/input:1x19x19x64/kernel:1x1x64x96/epilogue:bias,add,relu",
    "conv2d/input:1x13x13x24/kernel:3x3x24x40/padding:1,1x1,1/epilogue:add",
    "conv2d/input:2x11x23x37/kernel:1x1x37x21/strides:2x2/epilogue:bias,add",
    "conv2d/input:1x19x19x8/kernel:3x3x8x8/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW/epilogue:add",
    "conv2d/input:1x9x37x16/kernel:1x1x16x12/input_layout:NCHW/output_layout:NCHW/epilogue:bias,add",
    "conv2d/input:1x17x19x32/kernel:3x3x32x32/padding:1,1x1,1/input_layout:NCHW16c/output_layout:NCHW16c/epilogue:add",
    "conv2d/input:1x17x19x24/kernel:1x1x24x24/input_layout:NCHW16c/output_layout:NCHW16c/epilogue:add",
    "conv2d/input:1x19x21x8/kernel:3x3x8x4/padding:1,1x1,1/epilogue:add",
    "conv2d/input:1x19x19x32/kernel:3x3x8x32/padding:1,1x1,1/feature_group_count:4/epilogue:bias,add",
    "conv2d/input:1x7x7x8/kernel:4x4x8x8/padding:2,2x2,2/lhs_dilation:2x2/epilogue:add",
    "conv2d/input:1x13x17x24/kernel:1x1x24x40/padding:1,1x1,1/epilogue:bias,add/depthwise:3x3",
    "conv2d/input:1x19x23x48/kernel:3x3x1x48/padding:1,1x1,1/feature_group_count:48/epilogue:bias,add,relu",
    "conv2d/input:1x19x23x19/kernel:5x5x1x19/strides:2x2/padding:2,2x2,2/feature_group_count:19/epilogue:add",
    "conv2d/input:1x19x23x20/kernel:3x3x1x20/padding:1,1x1,1/feature_group_count:20/input_layout:NCHW/"
    "output_layout:NCHW/epilogue:add",
    "conv2d/input:1x19x23x20/kernel:3x3x1x20/padding:1,1x1,1/feature_group_count:20/output_layout:NCHW/epilogue:add",
    "conv2d/input:1x19x23x20/kernel:3x3x1x20/padding:1,1x1,1/feature_group_count:20/input_layout:NCHW/epilogue:add",
    "conv2d/input:1x19x23x32/kernel:3x3x1x32/padding:1,1x1,1/feature_group_count:32/input_layout:NCHW16c/"
    "output_layout:NCHW16c/epilogue:add",
    "conv2d/input:1x13x13x32/kernel:1x1x32x48/dtype:i8/epilogue:bias,requantize_litert,add",
    "conv2d/input:1x13x13x20/kernel:3x3x20x24/padding:1,1x1,1/dtype:u8/epilogue:bias,requantize_onnx,add",
    "conv2d/input:1x13x13x24/kernel:3x3x1x24/padding:1,1x1,1/feature_group_count:24/dtype:u8/"
    "epilogue:bias,requantize_onnx,add",
};

TEST_F(AddendKernels, MayWriteOverTheAddend) {
    for (const char *target : {"host", "avx2"}) {
        const Target of = *parse_target(target, 1, machine_.halide_target);
        if (!runs(of)) continue;
        for (const char *shape : added_shapes) expect_candidates_right(shape, of, 1);
    }
    const Target threads = *parse_target("host", 3, machine_.halide_target);
    for (const char *shape : added_shapes) expect_candidates_right(shape, threads, 0);
}

TEST_F(AddendKernels, WinogradMayWriteOverTheAddend) {
    const Target host = *parse_target("host", 1, machine_.halide_target);
    const auto workload =
        parse_workload_key("conv2d/input:1x13x11x24/kernel:3x3x24x40/padding:1,1x1,1/epilogue:bias,add,relu");
    ASSERT_TRUE(workload);
    for (const char *name : {"winograd_2", "winograd_3", "winograd_4"}) {
        for (int i = 0; i < 3; i++) expect_draw_right(*workload, host, *find_algorithm(name));
    }
}

}  // namespace
}  // namespace kiln
