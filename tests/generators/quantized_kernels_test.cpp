// Quantized convolutions of every kind of shape, built by the real generator and judged by the real runner: bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schedules/spaces/cpu_tile_knobs.h"
#include "tests/drawn_workloads.h"
#include "tests/generators/judged_candidates.h"

namespace kiln {
namespace {

class QuantizedKernels : public JudgedCandidates {};

// Rows in the padding are left out of sums that begin with the zero point times what is missing.
TEST_F(QuantizedKernels, RowsOfPaddingAreSkipped) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (const char *text : {
             "conv2d/input:1x7x7x32/kernel:3x3x32x40/padding:1,1x1,1/dtype:u8/epilogue:bias,requantize_onnx",
             "conv2d/input:2x9x8x17/kernel:5x3x17x16/strides:2x1/padding:4,1x1,0/dtype:i8/epilogue:requantize_litert",
             "conv2d/input:1x9x8x16/kernel:3x3x16x24/padding:2,2x2,2/rhs_dilation:2x2/dtype:i8/"
             "epilogue:bias,requantize_onnx/kernel_zero_point:true",
             "conv2d/input:1x12x10x3/kernel:3x3x3x16/padding:3,3x1,1/dtype:i8/output_dtype:i32",
             "conv2d/input:1x12x10x3/kernel:3x3x3x16/padding:3,3x1,1/dtype:u8/output_dtype:i32/kernel_dtype:u8/"
             "kernel_zero_point:true",
             "conv3d/input:1x4x5x6x8/kernel:3x3x3x8x16/padding:1,1x1,1x1,1/dtype:u8/epilogue:requantize_onnx",
             "conv2d/input:1x6x7x16/kernel:3x3x16x16/padding:1,1x1,1/dtype:u8/epilogue:requantize_litert/"
             "kernel_dtype:u8",
         }) {
        const auto workload = parse_workload_key(text);
        ASSERT_TRUE(workload) << workload.error().message;
        const Space space = find_algorithm("quantized")->space(*workload, target, core_of(machine_, target));
        for (int found = 0, draws = 0; found < 2; draws++) {
            ASSERT_LT(draws, 1000) << text;
            const auto candidate = space.sample(rng_);
            ASSERT_TRUE(candidate);
            if (checked_knobs<CpuTileKnobs>(candidate->knobs).skip_rows == 0) continue;
            found++;
            expect_right(*workload, target, *candidate);
            Candidate all = *candidate;  // as recorded before there was a choice
            all.knobs.erase("skip_rows");
            EXPECT_TRUE(space.check(all)) << space.check(all).error().message;
        }
    }
}

// Steps of four, two and one channels, and of columns; ragged ones; groups that share vectors and that fill them; padding,
// holes, layouts.
constexpr const char *quantized[] = {
    "conv2d/input:1x9x9x32/kernel:3x3x32x40/padding:1,1x1,1/dtype:i8/epilogue:bias,requantize_litert",
    "conv2d/input:1x9x9x32/kernel:1x1x32x72/dtype:u8/epilogue:bias,requantize_onnx,add",
    "conv2d/input:2x9x8x17/kernel:3x3x17x33/strides:2x1/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert,add",
    "conv2d/input:1x9x9x20/kernel:3x3x20x24/padding:1,1x1,1/dtype:i8/output_dtype:u8/output_layout:NCHW/"
    "epilogue:requantize_onnx,add/kernel_zero_point:true",
    "conv2d/input:1x11x9x96/kernel:3x3x1x96/padding:1,1x1,1/feature_group_count:96/dtype:i8/"
    "epilogue:requantize_onnx,add",
    "conv2d/input:1x7x7x24/kernel:3x3x8x48/padding:1,1x1,1/feature_group_count:3/dtype:u8/output_layout:NCHW8c/"
    "epilogue:bias,requantize_litert,add",
    "conv2d/input:1x9x9x32/kernel:1x1x32x64/dtype:u8/epilogue:requantize_onnx",
    "conv2d/input:2x15x13x48/kernel:3x3x1x48/strides:2x2/padding:1,1x1,0/feature_group_count:48/dtype:i8/"
    "epilogue:requantize_onnx",
    "conv2d/input:1x17x15x64/kernel:4x3x1x64/strides:3x2/padding:1,2x0,1/feature_group_count:64/dtype:u8/epilogue:bias,"
    "requantize_litert",
    "conv2d/input:2x15x13x3/kernel:7x7x3x24/strides:2x2/padding:3,3x2,3/dtype:u8/output_dtype:i8/epilogue:bias,"
    "requantize_onnx",
    "conv2d/input:1x21x30x1/kernel:3x5x1x8/strides:1x2/padding:1,0x3,1/dtype:u8/output_dtype:i8/"
    "epilogue:requantize_litert",
    "conv2d/input:2x13x11x5/kernel:2x3x5x40/strides:2x1/padding:0,0x-1,2/dtype:i8/epilogue:bias,requantize_onnx/"
    "kernel_dtype:u8",
    "conv2d/input:1x12x10x3/kernel:3x3x3x16/padding:1,1x1,1/dtype:i8/epilogue:requantize_onnx/kernel_zero_point:true",
    "conv2d/input:1x9x8x17/kernel:3x3x17x33/padding:1,1x1,1/rhs_dilation:2x1/dtype:i8/epilogue:requantize_litert",
    "conv2d/input:1x9x8x16/kernel:3x3x16x8/padding:1,1x1,1/dtype:i8/output_dtype:i32/epilogue:bias",
    "conv2d/input:1x8x8x24/kernel:3x3x1x24/padding:1,1x1,1/feature_group_count:24/dtype:i8/epilogue:bias,"
    "requantize_litert",
    "conv2d/input:1x8x9x7/kernel:3x3x1x14/strides:2x2/padding:0,1x0,1/feature_group_count:7/dtype:u8/epilogue:"
    "requantize_onnx",
    "conv2d/input:2x11x13x40/kernel:5x5x1x40/strides:2x1/padding:2,2x-1,3/feature_group_count:40/dtype:u8/"
    "epilogue:bias,"
    "requantize_onnx",
    "conv2d/input:1x12x17x64/kernel:3x4x1x64/strides:1x3/rhs_dilation:2x3/feature_group_count:64/dtype:i8/"
    "output_dtype:u8/"
    "epilogue:bias,requantize_litert",
    "conv2d/input:1x7x5x144/kernel:7x7x1x144/padding:3,3x3,3/feature_group_count:144/dtype:u8/epilogue:requantize_onnx/"
    "kernel_dtype:u8",
    "conv1d/input:2x30x33/kernel:9x1x33/padding:4,4/feature_group_count:33/dtype:i8/output_dtype:i32/epilogue:bias",
    "conv3d/input:2x4x5x6x20/kernel:3x3x3x1x20/padding:1,1x1,1x1,1/feature_group_count:20/dtype:i8/epilogue:"
    "requantize_litert",
    "conv2d/input:1x7x7x32/kernel:3x3x4x32/padding:1,1x1,1/feature_group_count:8/dtype:i8/epilogue:requantize_litert",
    "conv2d/input:1x7x7x24/kernel:3x3x8x48/padding:1,1x1,1/feature_group_count:3/dtype:i8/epilogue:requantize_onnx",
    "conv2d/input:1x7x7x12/kernel:3x3x6x10/padding:1,1x1,1/feature_group_count:2/dtype:i8/epilogue:requantize_onnx",
    "conv2d/input:1x7x7x20/kernel:3x3x20x24/padding:1,1x1,1/lhs_dilation:2x2/dtype:i8/epilogue:requantize_litert",
    "conv2d/input:1x9x9x12/kernel:3x3x12x20/padding:1,1x1,1/dtype:u8/epilogue:bias,requantize_onnx/kernel_dtype:u8/"
    "kernel_zero_point:true",
    "conv2d/input:1x8x8x16/kernel:3x3x1x16/padding:1,1x1,1/feature_group_count:16/dtype:i8/epilogue:requantize_onnx/"
    "kernel_zero_point:true",
    "conv2d/input:2x15x13x48/kernel:5x5x1x48/strides:2x2/padding:2,1x0,2/feature_group_count:48/dtype:u8/"
    "epilogue:bias,requantize_onnx/kernel_dtype:u8/kernel_zero_point:true",
    "conv2d/input:1x13x11x37/kernel:3x4x1x37/padding:2,2x3,3/rhs_dilation:2x3/feature_group_count:37/dtype:i8/"
    "output_dtype:u8/epilogue:requantize_litert,add/kernel_dtype:u8/kernel_zero_point:true",
    "conv1d/input:2x30x33/kernel:9x1x33/padding:4,4/feature_group_count:33/dtype:u8/output_dtype:i32/epilogue:bias/"
    "kernel_zero_point:true",
    "conv2d/input:1x9x8x17/kernel:3x3x17x33/padding:1,1x1,1/dtype:u8/epilogue:requantize_onnx/kernel_dtype:u8/"
    "kernel_zero_point:true",
    "conv2d/input:1x13x12x3/kernel:3x3x3x24/strides:2x2/padding:1,1x1,1/dtype:u8/epilogue:bias,requantize_onnx/"
    "kernel_dtype:u8/kernel_zero_point:true",
    "conv2d/input:1x7x7x30/kernel:3x3x10x48/padding:1,1x1,1/feature_group_count:3/dtype:u8/epilogue:requantize_onnx/"
    "kernel_dtype:u8/kernel_zero_point:true",
    "conv2d/input:1x9x9x12/kernel:3x3x12x20/padding:1,1x1,1/dtype:i8/input_layout:NCHW/output_layout:NCHW8c/"
    "kernel_layout:HWOI/epilogue:requantize_litert",
    "conv2d/input:4x9x9x6/kernel:3x3x6x8/padding:1,1x1,1/batch_group_count:2/dtype:i8/epilogue:requantize_litert",
    "conv2d/input:1x5x9x56/kernel:1x1x8x56/strides:4x12/padding:0,0x2,0/feature_group_count:7/dtype:u8/"
    "output_dtype:i32/epilogue:bias/kernel_dtype:u8/kernel_zero_point:true",
    "conv1d/input:1x40x8/kernel:5x8x12/padding:2,2/dtype:i8/epilogue:requantize_litert",
    "conv3d/input:1x5x6x7x4/kernel:3x3x3x4x8/padding:1,1x1,1x1,1/dtype:u8/epilogue:requantize_onnx",
    "conv2d/input:1x9x9x128/kernel:1x1x128x16/strides:1x2/padding:-1,-1x0,0/dtype:i8/output_dtype:i32",
    "conv2d/input:1x33x1x3/kernel:5x1x3x20/padding:2,2x0,0/dtype:u8/epilogue:bias,requantize_onnx",
    "conv2d/input:2x19x1x24/kernel:3x1x24x12/strides:2x1/padding:1,0x0,0/dtype:i8/epilogue:requantize_litert/"
    "kernel_zero_point:true",
    "conv3d/input:2x1x4x4x8/kernel:1x1x1x8x8/padding:1,1x0,0x0,0/dtype:u8/epilogue:bias,requantize_onnx",
};

TEST_F(QuantizedKernels, AwkwardShapes) {
    const std::pair<const char *, int> targets[] = {
        {"baseline", 1}, {"avx2", 1}, {"avx512", 1}, {"host", 1}, {"host", 3}};
    for (size_t i = 0; i < std::size(quantized); i++) {
        std::vector<Target> tried;
        for (size_t turn = 0; turn < (is_turn(i) ? 2 : 1); turn++) {
            const auto &[name, threads] = targets[(i + 2 * turn + test_seed()) % std::size(targets)];
            const Target target = *parse_target(name, threads, machine_.halide_target);
            if (!runs(target) || std::ranges::count(tried, target) > 0) continue;
            expect_candidates_right(quantized[i], target, is_turn(i + turn) ? 1 : 0);
            tried.push_back(target);
        }
        // Direct sums, too, where the default is Winograd.
        if (!is_turn(i + 1) && !is_turn(i + 2)) continue;
        const Workload w = *parse_workload_key(quantized[i]);
        const Target target = *parse_target("host", 1, machine_.halide_target);
        const auto untuned = default_candidate(w, target, core_of(machine_, target), default_error_budget);
        if (!untuned || !untuned->algorithm.starts_with("quantized_winograd")) continue;
        const Space sums = find_algorithm("quantized")->space(w, target, core_of(machine_, target));
        expect_right(w, target, sums.default_candidate());
    }
}

TEST_F(QuantizedKernels, RandomConvolutions) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    ConvolutionDrawer drawer(test_seed());
    for (int built = 0; built < 8; built++) {
        Workload w = drawer.next_quantized();
        while (elements(output_shape(w)) == 0) w = drawer.next_quantized();
        expect_candidates_right(key(w), target, 1);
    }
}

}  // namespace
}  // namespace kiln
