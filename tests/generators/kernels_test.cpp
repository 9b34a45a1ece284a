// Every algorithm on every kind of shape, with its default and with random candidates, built by the real generator and
// judged by the real runner against the reference loops: whole output, guard pages, two sets of inputs.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "schedules/spaces/cpu_tile_knobs.h"
#include "tests/drawn_workloads.h"
#include "tests/generators/judged_candidates.h"

namespace kiln {
namespace {

class Kernels : public JudgedCandidates {};

// What is awkward: single pixels and channels, primes, windows larger than the image, crops, strides beyond the kernel,
// ragged panels and tiles, ranks 1 and 3, batches, every epilogue, groups that share, fill and straddle vectors.
constexpr const char *awkward[] = {
    "conv2d/input:1x1x1x1/kernel:1x1x1x1",
    "conv2d/input:1x14x14x65/kernel:1x1x65x33/epilogue:bias,relu",
    "conv2d/input:2x13x11x17/kernel:3x3x17x7/padding:1,1x1,1/epilogue:bias",
    "conv2d/input:1x7x7x33/kernel:3x3x33x65/padding:1,1x1,1/epilogue:add,relu",
    "conv2d/input:3x9x8x3/kernel:3x3x3x17/strides:1x2/padding:-1,1x2,-2/epilogue:bias,add,clamp:-1:1.5",
    "conv2d/input:1x31x29x3/kernel:7x7x3x40/strides:2x2/padding:3,3x3,3",
    "conv2d/input:1x13x11x16/kernel:1x1x16x24/epilogue:bias,relu",
    "conv2d/input:2x9x7x24/kernel:1x1x24x40/strides:2x2/epilogue:bias,add",
    "conv2d/input:1x11x9x24/kernel:1x1x24x8/output_layout:NCHW8c/epilogue:clamp:0:6",
    "conv2d/input:1x14x21x1/kernel:3x3x1x2/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW",
    "conv2d/input:2x14x21x5/kernel:3x3x5x1/padding:1,1x1,1/input_layout:NCHW/epilogue:bias,relu",
    "conv2d/input:1x17x17x16/kernel:1x7x16x16/padding:0,0x3,3/kernel_layout:HWOI",
    "conv2d/input:1x17x17x16/kernel:7x1x16x16/padding:3,3x0,0/epilogue:relu",
    "conv2d/input:1x15x15x8/kernel:3x3x8x12/padding:4,4x4,4/rhs_dilation:4x4",
    "conv2d/input:1x5x6x7/kernel:5x6x7x10",
    "conv2d/input:1x3x3x5/kernel:5x5x5x6/padding:4,4x4,4",
    "conv2d/input:2x12x12x6/kernel:2x2x6x20/strides:3x5",
    "conv1d/input:2x50x12/kernel:5x12x20/strides:2/padding:2,2",
    "conv3d/input:1x5x9x9x4/kernel:3x3x3x4x18/padding:1,1x1,1x1,1",
    "conv3d/input:2x4x6x5x8/kernel:1x3x3x8x9/strides:2x1x1/padding:0,0x1,1x1,1",
    "conv3d/input:2x1x4x5x8/kernel:1x1x1x8x9/padding:1,1x0,0x0,0/epilogue:bias",
    "conv3d/input:2x1x4x5x8/kernel:1x1x3x8x9/padding:1,1x0,0x1,1",
    "conv2d/input:1x12x13x12/kernel:3x3x4x24/padding:1,1x1,1/feature_group_count:3",
    "conv2d/input:1x12x13x64/kernel:3x3x4x64/padding:1,1x1,1/feature_group_count:16/epilogue:bias",
    "conv2d/input:1x9x10x48/kernel:3x3x8x48/strides:2x2/padding:1,1x1,1/feature_group_count:6",
    "conv2d/input:1x9x7x32/kernel:3x3x16x64/padding:1,1x1,1/feature_group_count:2",
    "conv2d/input:1x9x11x72/kernel:3x3x24x72/padding:1,1x1,1/feature_group_count:3/epilogue:bias,add",
    "conv2d/input:2x8x9x30/kernel:5x3x6x20/strides:1x2/padding:2,2x1,1/feature_group_count:5",
    "conv2d/input:1x9x9x15/kernel:2x3x3x25/padding:1,0x1,1/feature_group_count:5",
    "conv2d/input:1x13x12x40/kernel:3x3x1x40/padding:1,1x1,1/feature_group_count:40/epilogue:bias,relu",
    "conv2d/input:2x10x10x12/kernel:5x5x1x24/strides:2x2/padding:1,2x1,2/feature_group_count:12",
    "conv2d/input:1x20x20x7/kernel:11x11x1x7/padding:5,5x5,5/feature_group_count:7",
    "conv2d/input:1x9x13x58/kernel:3x3x1x58/padding:1,1x1,1/feature_group_count:58/epilogue:bias,prelu,add,relu",
    "conv2d/input:2x11x12x21/kernel:5x5x1x21/strides:2x2/padding:2,2x2,1/feature_group_count:21/epilogue:add",
    "conv3d/input:1x4x5x6x19/kernel:3x3x3x1x19/padding:1,1x1,1x0,2/feature_group_count:19/epilogue:bias",
    "conv2d/input:2x9x11x20/kernel:3x3x20x36/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW/epilogue:bias,add",
    "conv2d/input:2x9x11x20/kernel:3x3x20x36/padding:1,1x1,1/input_layout:NCHW16c/output_layout:NCHW8c/epilogue:bias",
    "conv2d/input:2x9x11x20/kernel:1x1x20x36/output_layout:NCHW16c/epilogue:add,relu",
    "conv2d/input:2x13x11x9/kernel:1x1x9x17/input_layout:NCHW/output_layout:NCHW/epilogue:bias,add",
    "conv2d/input:2x5x37x6/kernel:3x3x6x10/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW/epilogue:bias,relu",
    "conv2d/input:1x9x38x5/kernel:3x2x5x40/strides:2x1/input_layout:NCHW/output_layout:NCHW",
    "conv2d/input:2x7x9x24/kernel:1x1x24x10/output_layout:NCHW/epilogue:bias,silu",
    "conv2d/input:1x11x13x20/kernel:1x1x20x24/input_layout:NCHW8c/output_layout:NCHW/epilogue:add",
    "conv2d/input:1x11x13x20/kernel:1x1x20x40/input_layout:NCHW/output_layout:NCHW8c/epilogue:bias",
    "conv2d/input:1x9x20x12/kernel:3x3x12x40/padding:1,1x1,1/input_layout:NCHW8c/output_layout:NCHW8c",
    "conv2d/input:1x9x11x20/kernel:3x3x4x20/padding:1,1x1,1/feature_group_count:5/input_layout:NCHW8c/"
    "output_layout:NCHW",
    "conv2d/input:1x9x11x20/kernel:3x3x1x40/padding:1,1x1,1/feature_group_count:20/input_layout:NCHW/"
    "output_layout:NCHW8c",
    "conv3d/input:2x4x6x5x8/kernel:1x1x1x8x9/input_layout:NCHW/output_layout:NCHW",
    "conv2d/input:1x83x79x9/kernel:1x1x9x90/epilogue:bias,add,relu",  // more than L2 keeps
    // few outputs from channels that are turned
    "conv2d/input:2x13x19x20/kernel:3x3x20x1/padding:1,1x1,1/epilogue:bias,relu",
    "conv2d/input:1x9x27x7/kernel:5x3x7x3/padding:2,0x1,3/epilogue:bias,add,relu",
    "conv2d/input:1x11x21x8/kernel:3x3x8x4/padding:-1,2x3,2/rhs_dilation:2x2/output_layout:NCHW/epilogue:bias",
    "conv2d/input:1x5x33x17/kernel:2x1x17x2/kernel_layout:HWOI/epilogue:silu",
    "conv3d/input:1x3x6x18x12/kernel:3x3x3x12x2/padding:1,1x1,1x1,1",
    "conv1d/input:1x99x40/kernel:9x40x2/padding:4,4/epilogue:bias,add",
    "conv2d/input:1x9x24x32/kernel:3x3x32x1/padding:1,1x1,1/dtype:bf16/output_dtype:f32/epilogue:bias",
    // one column: rows in its place
    "conv2d/input:2x41x1x20/kernel:5x1x20x24/strides:2x1/padding:2,2x0,0/epilogue:bias,add",
    "conv2d/input:1x33x1x3/kernel:7x1x3x20/padding:3,3x0,0/input_layout:NCHW/output_layout:NCHW8c",
    "conv2d/input:1x29x1x24/kernel:3x1x1x24/padding:1,1x0,0/feature_group_count:24",
    "conv2d/input:2x19x1x12/kernel:4x1x12x9/strides:1x2/padding:1,2x0,0/lhs_dilation:2x1/kernel_layout:HWOI",
    "conv3d/input:1x7x9x1x12/kernel:3x3x1x12x20/padding:1,1x1,1x0,0/kernel_layout:HWOI/epilogue:bias",
    "conv2d_backprop_input/input:2x23x1x12/kernel:4x1x12x9/strides:2x1/padding:1,2x0,0",
    "conv2d_backprop_kernel/input:2x23x1x12/kernel:4x1x12x9/strides:2x1/padding:1,2x0,0/kernel_layout:HWOI",
    // activations
    "conv2d/input:1x9x8x20/kernel:3x3x20x37/padding:1,1x1,1/epilogue:bias,silu,add,relu",
    "conv2d/input:1x9x8x20/kernel:1x1x20x37/epilogue:bias,add,gelu,leaky_relu:0.01",
    "conv2d/input:1x9x8x20/kernel:3x3x1x20/feature_group_count:20/output_layout:NCHW8c/epilogue:sigmoid,bias,gelu_tanh",
    "conv2d/input:1x9x8x20/kernel:1x1x20x5/input_layout:NCHW/output_layout:NCHW/epilogue:bias,hard_swish,tanh",
    "conv2d/input:1x9x8x20/kernel:3x3x5x12/feature_group_count:4/epilogue:hard_sigmoid:0.2:0.5,clamp:-inf:0.75",
    "conv2d/input:2x5x6x20/kernel:3x3x20x37/dtype:f16/epilogue:bias,gelu,clamp:0.25:inf",
    "conv2d/input:1x9x8x20/kernel:3x3x20x37/padding:1,1x1,1/epilogue:bias,prelu",
    "conv2d/input:1x9x8x20/kernel:3x3x1x20/padding:1,1x1,1/feature_group_count:20/"
    "epilogue:bias,hard_swish,affine:0.75:-0.5",
    "conv2d/input:1x9x8x20/kernel:1x1x20x37/output_layout:NCHW8c/epilogue:bias,prelu,add,relu",
    "conv2d/input:1x9x8x20/kernel:3x3x1x20/feature_group_count:20/dtype:f16/epilogue:add,prelu,gelu",
    "conv2d/input:1x9x8x12/kernel:4x4x3x8/lhs_dilation:2x2/feature_group_count:4/output_layout:NCHW/"
    "epilogue:prelu,bias",
    // prologues
    "conv2d/input:1x9x8x20/kernel:1x1x20x37/epilogue:bias,scale/prologue:scale,bias,relu",
    "conv2d/input:2x9x8x20/kernel:3x3x20x37/padding:1,1x1,1/prologue:bias,silu",
    "conv2d/input:1x9x17x3/kernel:3x5x3x20/strides:2x2/padding:1,1x2,2/prologue:scale,bias",
    "conv2d/input:1x9x11x20/kernel:3x3x20x40/padding:1,1x1,1/input_layout:NCHW16c/output_layout:NCHW/"
    "prologue:scale,hard_swish",
    "conv2d/input:1x9x38x5/kernel:1x1x5x24/input_layout:NCHW/output_layout:NCHW/prologue:bias,scale,clamp:-0.5:0.5",
    "conv2d/input:1x9x13x58/kernel:3x3x1x58/padding:1,1x1,1/feature_group_count:58/prologue:scale,bias,relu",
    "conv2d/input:1x9x11x20/kernel:3x3x4x20/padding:1,1x1,1/feature_group_count:5/input_layout:NCHW8c/"
    "output_layout:NCHW/prologue:scale,bias",
    "conv2d/input:1x8x9x20/kernel:4x4x20x8/padding:1,1x1,1/lhs_dilation:2x2/dtype:bf16/prologue:bias,relu",
    "conv2d/input:4x9x8x6/kernel:3x2x6x10/padding:1,1x1,1/rhs_dilation:2x3/batch_group_count:2/prologue:bias,scale",
    "conv2d/input:1x8x9x12/kernel:3x3x1x12/padding:1,1x1,1/feature_group_count:12/input_layout:NCHW8c/"
    "output_layout:NCHW8c/prologue:bias",
    "conv2d/input:2x7x8x20/kernel:3x3x1x20/padding:2,2x2,2/rhs_dilation:2x2/feature_group_count:20/"
    "input_layout:NCHW16c/"
    "epilogue:bias,relu/prologue:scale,bias,relu",
    // depthwise separable
    "conv2d/input:1x13x17x24/kernel:1x1x24x40/padding:1,1x1,1/epilogue:bias,relu/prologue:bias,clamp:0:6/depthwise:3x3",
    "conv2d/input:2x14x11x20/kernel:1x1x20x13/strides:2x2/padding:0,1x2,1/epilogue:bias,add/prologue:scale,bias/"
    "depthwise:5x3",
    "conv2d/input:1x9x10x7/kernel:1x1x7x33/padding:2,2x2,2/rhs_dilation:2x2/kernel_layout:HWOI/depthwise:3x3",
    "conv2d/input:1x12x13x20/kernel:1x1x20x24/padding:1,1x1,1/input_layout:NCHW8c/output_layout:NCHW/prologue:relu/"
    "depthwise:3x3",
    "conv2d/input:1x8x9x16/kernel:1x1x16x24/strides:1x2/padding:-1,1x1,0/dtype:bf16/output_layout:NCHW16c/"
    "depthwise:2x3",
    "conv3d/input:1x4x6x5x8/kernel:1x1x1x8x9/padding:1,1x1,1x1,1/depthwise:3x2x3",
    "conv1d/input:2x50x12/kernel:1x12x20/strides:2/padding:2,2/prologue:bias/depthwise:5",
    // dilations
    "conv2d/input:2x15x17x20/kernel:3x3x20x36/padding:2,3x1,4/rhs_dilation:3x2/epilogue:bias,add,relu",
    "conv2d/input:1x14x19x9/kernel:4x3x9x20/strides:2x3/padding:2,2x4,3/rhs_dilation:4x2/output_layout:NCHW8c",
    "conv2d/input:1x15x13x32/kernel:3x3x8x32/padding:2,2x2,2/rhs_dilation:2x2/feature_group_count:4/epilogue:add",
    "conv2d/input:1x17x16x24/kernel:3x3x1x24/padding:4,4x4,4/rhs_dilation:4x4/feature_group_count:24/epilogue:bias",
    "conv2d/input:4x9x8x6/kernel:3x2x6x10/padding:1,1x1,1/rhs_dilation:2x3/batch_group_count:2/dtype:f16",
    "conv3d/input:2x5x6x7x8/kernel:2x3x2x8x9/padding:2,2x1,1x2,2/rhs_dilation:3x1x2/input_layout:NCHW",
    "conv2d/input:1x2x2x4/kernel:2x2x4x8/padding:2,2x2,2/rhs_dilation:4x4",
    "conv3d/input:2x1x1x1x2/kernel:1x2x1x2x2/strides:1x7x1/padding:0,0x0,4x0,2/rhs_dilation:1x2x1/batch_group_count:2",
    "conv2d/input:1x17x18x128/kernel:3x3x1x128/padding:6,6x7,6/rhs_dilation:6x7/feature_group_count:128/epilogue:bias",
    "conv2d_backprop_input/input:1x12x11x20/kernel:3x3x20x24/padding:2,3x1,4/rhs_dilation:3x2/output_layout:NCHW",
    "conv2d_backprop_input/input:4x9x8x6/kernel:3x3x6x10/padding:1,1x2,2/rhs_dilation:1x2/batch_group_count:2",
    // dtypes
    "conv2d/input:1x9x11x20/kernel:3x3x20x36/padding:1,1x1,1/dtype:f16/epilogue:bias,add,relu",
    "conv2d/input:2x9x11x20/kernel:1x1x20x24/dtype:bf16/input_layout:NCHW/output_layout:NCHW/epilogue:bias,relu",
    "conv2d/input:1x5x33x4/kernel:3x3x4x9/padding:1,1x1,1/dtype:f16/input_layout:NCHW/output_layout:NCHW",
    "conv2d/input:2x9x11x20/kernel:1x1x20x24/dtype:bf16/epilogue:bias,relu",
    "conv2d/input:1x13x9x15/kernel:1x1x15x40/strides:2x1/dtype:f16/epilogue:add",
    "conv2d/input:2x9x11x20/kernel:1x1x20x36/dtype:bf16/input_layout:NCHW/output_layout:NCHW8c/epilogue:bias",
    "conv2d/input:1x9x11x3/kernel:5x5x3x17/strides:2x2/padding:2,2x2,2/dtype:f16/output_dtype:f32",
    "conv2d/input:1x9x11x24/kernel:3x3x4x24/padding:1,1x1,1/feature_group_count:6/output_dtype:bf16/epilogue:add",
    "conv2d/input:1x13x12x40/kernel:3x3x1x40/padding:1,1x1,1/feature_group_count:40/dtype:bf16/epilogue:relu",
    // holes, groups of the batch
    "conv2d/input:1x6x7x10/kernel:3x4x10x20/padding:2,1x-3,4/lhs_dilation:2x3/epilogue:bias",
    "conv2d/input:2x5x4x8/kernel:5x3x8x3/strides:2x3/padding:4,4x2,2/lhs_dilation:3x2/rhs_dilation:2x3/epilogue:add",
    "conv2d/input:1x5x6x12/kernel:4x4x3x8/padding:2,2x2,2/lhs_dilation:2x2/feature_group_count:4/input_layout:NCHW/"
    "output_layout:NCHW4c/epilogue:bias",
    "conv2d/input:6x7x8x5/kernel:3x3x5x12/padding:1,1x1,1/batch_group_count:3/epilogue:bias,add",
    "conv3d/input:4x3x4x5x6/kernel:2x2x3x6x8/padding:1,0x1,1x-1,2/lhs_dilation:2x1x2/batch_group_count:2/"
    "input_layout:NCHW",
    // gradients of the input; of the first one, planes read nothing
    "conv3d_backprop_input/input:1x5x1x2x1/kernel:3x1x2x1x1/padding:0,-2x0,0x0,0/lhs_dilation:2x1x1/"
    "rhs_dilation:3x1x1",
    "conv2d_backprop_input/input:1x14x14x17/kernel:3x3x17x33/padding:1,1x1,1",
    "conv2d_backprop_input/input:2x15x13x3/kernel:7x7x3x20/strides:2x2/padding:3,3x3,3",
    "conv2d_backprop_input/input:1x9x12x20/kernel:3x2x5x24/strides:3x4/padding:-1,2x0,1/rhs_dilation:2x1/"
    "feature_group_count:4/input_layout:NCHW/kernel_layout:HWOI",
    "conv2d_backprop_input/input:4x9x8x6/kernel:3x3x6x10/strides:2x1/padding:1,1x1,1/batch_group_count:2/"
    "dtype:bf16/output_layout:NCHW",
    "conv2d_backprop_input/input:1x10x10x24/kernel:3x3x1x48/padding:1,1x1,1/feature_group_count:24/input_layout:NCHW8c",
    "conv2d_backprop_input/input:1x2x3x4/kernel:5x5x4x3",
    "conv3d_backprop_input/input:2x2x4x5x8/kernel:1x1x1x8x9/strides:2x1x1",
    // holes wider than the kernel: most outputs are sums of nothing
    "conv2d_backprop_input/input:1x15x23x20/kernel:1x1x20x24/strides:7x5",
    "conv2d_backprop_input/input:2x11x13x12/kernel:2x1x3x8/strides:4x3/padding:1,0x0,0/feature_group_count:4/"
    "input_layout:NCHW",
    "conv2d/input:1x4x5x8/kernel:2x1x8x12/padding:1,2x1,0/lhs_dilation:5x3/output_layout:NCHW8c/epilogue:bias,relu",
    "conv2d/input:1x4x5x24/kernel:1x2x1x24/lhs_dilation:3x4/feature_group_count:24/epilogue:bias",
    "conv2d/input:4x3x4x6/kernel:1x2x6x10/lhs_dilation:3x3/batch_group_count:2/dtype:bf16",
    "conv3d/input:1x2x3x4x6/kernel:1x2x1x6x10/lhs_dilation:2x3x3/epilogue:bias,sigmoid",
    // gradients of the kernel
    "conv2d_backprop_kernel/input:1x14x13x17/kernel:3x3x17x33/padding:1,1x1,1",
    "conv2d_backprop_kernel/input:2x15x13x3/kernel:7x7x3x20/strides:2x2/padding:3,3x3,3/kernel_layout:HWOI",
    "conv2d_backprop_kernel/input:1x9x12x20/kernel:3x2x5x24/strides:3x4/padding:-1,2x0,1/lhs_dilation:2x3/"
    "rhs_dilation:2x1/feature_group_count:4/input_layout:NCHW",
    "conv2d_backprop_kernel/input:4x9x8x6/kernel:3x3x6x10/strides:2x1/padding:1,1x1,1/batch_group_count:2/dtype:bf16/"
    "output_layout:NCHW4c",
    "conv2d_backprop_kernel/input:1x10x10x24/kernel:3x3x1x48/padding:1,1x1,1/feature_group_count:24/dtype:f16",
    "conv3d_backprop_kernel/input:2x4x6x5x8/kernel:3x1x2x8x9/padding:1,1x0,0x0,1/input_layout:NCHW",
    "conv2d_backprop_kernel/input:1x2x3x4/kernel:5x5x4x3",
};

TEST_F(Kernels, AwkwardShapesOnThisMachine) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (size_t i = 0; i < std::size(awkward); i++) {
        if (is_turn(i)) expect_candidates_right(awkward[i], target, 1);
    }
}

TEST_F(Kernels, AwkwardShapesOnNarrowerTargets) {
    const std::pair<const char *, size_t> targets[] = {{"baseline", 0}, {"avx2", 4}};  // each takes other rows
    size_t tried = 0;
    for (const auto &[name, first] : targets) {
        const auto target = parse_target(name, 1, machine_.halide_target);
        ASSERT_TRUE(target);
        if (!adds_to_host(*target)) continue;
        for (size_t i = 0; i < std::size(awkward); i++) {
            if (!is_turn(i + first, 8)) continue;
            expect_candidates_right(awkward[i], *target, 1);
            tried++;
        }
    }
    EXPECT_GE(tried, std::size(awkward) / 8);  // every machine runs the baseline's
}

TEST_F(Kernels, AwkwardShapesOnThreads) {
    const Target target = *parse_target("host", 3, machine_.halide_target);  // a count that divides little
    for (size_t i = 0; i < std::size(awkward); i++) {
        if (is_turn(i, 8)) expect_candidates_right(awkward[i], target, 1);
    }
}

// Sums over shares of the images, or of the blocks of rows, added up at the end; counts that do not divide.
TEST_F(Kernels, PartialSumsOverThreads) {
    struct Row {
        const char *key;
        std::vector<int64_t> partials;  // at most as many as there are images, or blocks of rows
        int64_t row_block;              // 0: the default's
    };
    const Row rows[] = {
        {"conv2d_backprop_kernel/input:1x15x13x17/kernel:3x3x17x20/padding:1,1x1,1", {3, 6}, 1},
        {"conv2d_backprop_kernel/input:7x9x8x5/kernel:2x3x5x12/dtype:bf16/output_layout:NCHW", {3, 6}, 0},
        {"conv3d_backprop_kernel/input:4x3x9x8x6/kernel:2x3x2x6x8/strides:1x2x1", {3}, 0},
    };
    const Target target = *parse_target("host", 3, machine_.halide_target);
    for (const Row &row : rows) {
        const Workload workload = *parse_workload_key(row.key);
        const Space space = find_algorithm("kernel_gradient")->space(workload, target, core_of(machine_, target));
        for (const int64_t partials : row.partials) {
            Candidate candidate = space.default_candidate();
            candidate.knobs["partials"] = partials, candidate.knobs["parallel"] = 0;
            if (row.row_block) candidate.knobs["row_block"] = row.row_block;
            expect_right(workload, target, candidate);
        }
    }
}

// Rows of a tile below the last row of the output are computed and not stored; they must not read below the input.
TEST_F(Kernels, TilesThatDoNotDivideTheRows) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (const auto &[algorithm, text] : {std::pair{"direct", "conv2d/input:1x15x11x16/kernel:3x3x16x16"},
                                          {"direct", "conv2d/input:1x15x11x16/kernel:3x3x4x16/feature_group_count:4"},
                                          {"direct", "conv2d/input:1x15x11x16/kernel:3x3x1x16/feature_group_count:16"},
                                          {"separable", "conv2d/input:1x15x11x16/kernel:1x1x16x16/depthwise:3x3"}}) {
        const bool copies = algorithm == std::string("separable");
        const Workload workload = *parse_workload_key(text);
        const Space space = find_algorithm(algorithm)->space(workload, target, core_of(machine_, target));
        int tried = 0;
        for (int draw = 0; draw < 2000 && tried < 4; draw++) {
            const auto candidate = space.sample(rng_);
            ASSERT_TRUE(candidate) << text;
            const auto knobs = *decode_knobs<CpuTileKnobs>(candidate->knobs);
            if (13 % knobs.rows == 0 || (knobs.stage_input && !copies)) continue;
            expect_right(workload, target, *candidate);
            tried++;
        }
        EXPECT_EQ(tried, 4) << text;
    }
}

// What groups read is unrolled, so its extents must be known: on phases of the input no rows of padding are skipped.
TEST_F(Kernels, GroupsOnPhasesOfTheInput) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    const Workload workload = *parse_workload_key(
        "conv2d/input:1x15x13x32/kernel:3x3x8x32/padding:2,2x2,2/rhs_dilation:2x2/feature_group_count:4");
    const Space space = find_algorithm("input_phases")->space(workload, target, core_of(machine_, target));
    for (int draw = 0; draw < 6; draw++) {
        const auto candidate = space.sample(rng_);
        ASSERT_TRUE(candidate);
        EXPECT_EQ(decode_knobs<CpuTileKnobs>(candidate->knobs)->skip_rows, 0);
        expect_right(workload, target, *candidate);
    }
}

// Transforms: every layout, the tile's dimensions everywhere, ragged tiles, crops, one channel, one-dimensional
// windows.
constexpr const char *transforms[] = {
    "winograd_input_transform/input:1x8x8x16/window:3x3/tile:2x2",
    "winograd_input_transform/input:2x13x11x17/padding:1,1x1,1/window:3x3/tile:4x4",
    "winograd_input_transform/input:1x9x12x33/padding:1,2x-1,3/window:3x3/tile:6x4/tile_dimensions:4x5",
    "winograd_input_transform/input:1x9x10x20/padding:1,1x1,1/window:3x3/tile:4x4/tile_dimensions:3x4/batch:false",
    "winograd_input_transform/input:2x7x9x5/window:5x5/tile:2x2/tile_dimensions:2x0",
    "winograd_input_transform/input:1x6x31x8/padding:0,0x3,3/window:1x7/tile:1x4/tile_dimensions:5x1",
    "winograd_input_transform/input:1x31x6x1/padding:1,1x0,0/window:3x1/tile:4x1/points:1",
    "winograd_input_transform/input:2x20x37x6/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW/window:3x3/tile:2x2",
    "winograd_input_transform/input:1x9x70x20/padding:1,1x1,1/input_layout:NCHW16c/window:3x3/tile:4x4",
    "winograd_input_transform/input:1x5x5x40/dtype:f16/input_layout:NCHW/window:3x3/tile:2x4/tile_dimensions:3x4",
    "winograd_input_transform/input:1x9x9x24/padding:1,1x1,1/dtype:bf16/output_dtype:f32/window:3x3/tile:4x4",
    "winograd_input_transform/input:1x9x9x24/padding:1,1x1,1/output_dtype:bf16/window:3x3/tile:4x4",
    "winograd_filter_transform/kernel:3x3x17x33/tile:4x4",
    "winograd_filter_transform/kernel:3x3x40x24/kernel_layout:HWOI/tile:2x6/tile_dimensions:2x3",
    "winograd_filter_transform/kernel:1x7x5x3/output_dtype:f16/tile:1x2/tile_dimensions:1x2",
    "winograd_filter_transform/kernel:3x3x16x16/dtype:bf16/tile:4x4/points:1/tile_dimensions:3x0",
    "winograd_output_transform/input:1x4x4x16/window:3x3/tile:2x2",
    "winograd_output_transform/input:2x4x3x33/window:3x3/tile:4x4/output:13x11",
    "winograd_output_transform/input:1x2x3x20/window:3x3/tile:6x4/tile_dimensions:4x5/output:7x12",
    "winograd_output_transform/input:1x3x3x20/window:3x3/tile:4x4/tile_dimensions:1x3/batch:false/output:10x9",
    "winograd_output_transform/input:1x6x8x8/window:1x7/tile:1x4/tile_dimensions:5x0/output:6x31",
    "winograd_output_transform/input:2x10x19x6/input_layout:NCHW/output_layout:NCHW/window:3x3/tile:2x2/output:19x37",
    "winograd_output_transform/input:1x3x17x20/output_layout:NCHW16c/window:3x3/tile:4x4/output:9x67",
    "winograd_output_transform/input:1x3x2x1/output_layout:NCHW/window:5x5/tile:2x4/points:1/tile_dimensions:2x3",
    "winograd_output_transform/input:1x3x3x24/dtype:f16/window:3x3/tile:4x4/output:9x9",
    "winograd_output_transform/input:1x3x3x24/dtype:bf16/output_dtype:f32/window:3x3/tile:2x2/output:5x6",
};

TEST_F(Kernels, TransformsOnThisMachine) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (size_t i = 0; i < std::size(transforms); i++)
        expect_candidates_right(transforms[i], target, is_turn(i, 2) ? 1 : 0);
}

TEST_F(Kernels, TransformsOnOtherTargetsAndThreads) {
    const std::pair<const char *, int> targets[] = {{"baseline", 1}, {"avx2", 1}, {"host", 3}};
    size_t tried = 0;
    for (size_t i = 0; i < std::size(transforms); i++) {
        const auto &[name, threads] = targets[(i + test_seed()) % std::size(targets)];
        const Target target = *parse_target(name, threads, machine_.halide_target);
        if (!adds_to_host(target)) continue;
        expect_candidates_right(transforms[i], target, 1);
        tried++;
    }
    EXPECT_GE(tried, std::size(transforms) / 3 * 2);  // all but those for AVX2, where that is the host or is missing
}

TEST_F(Kernels, RandomTransforms) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (int built = 0, draws = 0; built < 6; draws++) {
        ASSERT_LT(draws, 1000);
        const Workload w = drawn_transform(rng_);
        if (!validate(w) || !default_candidate(w, target, core_of(machine_, target), default_error_budget))
            continue;  // a position twice, no image left
        expect_candidates_right(key(w), target, 1);
        built++;
    }
}

TEST_F(Kernels, RandomSeparableConvolutions) {
    ConvolutionDrawer drawer(test_seed());
    for (int built = 0; built < 6; built++) {
        const Target target = *parse_target("host", built % 2 ? 3 : 1, machine_.halide_target);
        expect_candidates_right(key(drawer.next_separable()), target, 1);
    }
}

TEST_F(Kernels, TheGeneratorRefusesWhatDoesNotFit) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    const Workload workload = convolution({1, 8, 8, 16}, {3, 3, 16, 16});
    const Candidate good = *default_candidate(workload, target, core_of(machine_, target), default_error_budget);
    for (void (*spoil)(Candidate &) :
         {+[](Candidate &c) { c.algorithm = "fft"; }, +[](Candidate &c) { c.algorithm_version = 9; },
          +[](Candidate &c) { c.schedule = "gpu_tile"; }, +[](Candidate &c) { c.knobs.erase("pixels"); },
          +[](Candidate &c) { c.knobs["pixels"] = 0; }, +[](Candidate &c) { c.knobs["vektors"] = 1; },
          +[](Candidate &c) { c.knobs["block_w"] = 2; }}) {
        Candidate bad = good;
        spoil(bad);
        const auto built = builder_->build({workload, target, bad});
        ASSERT_TRUE(built) << built.error().message;
        ASSERT_FALSE(built->ok()) << to_text(bad);
        EXPECT_EQ(built->failure().status, TrialStatus::refused) << built->failure().message;
    }
}

TEST_F(Kernels, TheSameCandidateGivesTheSameObject) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    const Workload workload = convolution({1, 14, 14, 32}, {3, 3, 32, 32});
    const Candidate candidate = *default_candidate(workload, target, core_of(machine_, target), default_error_budget);
    const auto first = builder_->build({workload, target, candidate});
    const auto second = builder_->build({workload, target, candidate});
    ASSERT_TRUE(first && second && first->ok() && second->ok());
    EXPECT_EQ(first->value().object_hash, second->value().object_hash);
    Candidate other = candidate;
    other.knobs["unroll"] = 2;
    const auto third = builder_->build({workload, target, other});
    ASSERT_TRUE(third && third->ok());
    EXPECT_NE(first->value().object_hash, third->value().object_hash);
}

}  // namespace
}  // namespace kiln
