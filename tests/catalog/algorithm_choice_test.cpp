// Which algorithm a layer gets without a trial (catalog/algorithm_rules.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "catalog/algorithm_rules.h"
#include "catalog/catalog.h"
#include "tests/target_names.h"
#include "workload/signature.h"

namespace kiln {
namespace {

constexpr const char *wide_target = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

const Core any_core;

// One row for each rule of catalog/algorithm_rules.cpp, and its neighbours.
TEST(AlgorithmChoice, ChoosesAnAlgorithmForTheUnmeasured) {
    struct Row {
        const char *key, *algorithm, *target = "avx512";
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x16x16x64/kernel:3x3x64x64/padding:1,1x1,1", "winograd_4"},
        {"conv2d_backprop_input/input:1x16x16x64/kernel:3x3x64x64/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:1x32x32x64/kernel:3x3x64x64/padding:2,2x2,2/rhs_dilation:2x2", "winograd_4"},
        {"conv2d/input:1x16x16x8/kernel:3x3x8x16/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:1x14x14x7/kernel:3x3x7x64/padding:1,1x1,1", "direct"},  // few channels
        {"conv2d/input:1x64x64x32/kernel:3x3x32x12/padding:1,1x1,1", "direct"},
        {"conv2d/input:1x64x64x32/kernel:3x3x32x12/padding:1,1x1,1", "winograd_4", "avx2"},
        {"conv2d/input:1x64x64x32/kernel:3x3x32x8/padding:1,1x1,1", "winograd_4", "baseline"},
        {"conv2d/input:1x64x64x32/kernel:3x3x32x7/padding:1,1x1,1", "direct", "avx2"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x15/padding:1,1x1,1", "direct"},
        {"conv2d/input:1x9x9x64/kernel:3x3x64x64/padding:1,1x1,1", "winograd_3"},  // nine whole tiles
        {"conv2d/input:1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:1x13x13x32/kernel:3x3x32x128/padding:1,1x1,1", "winograd_5"},  // nine tiles for sixteen
        {"conv2d/input:1x100x100x128/kernel:3x3x128x128/padding:1,1x1,1", "winograd_5", "avx2"},
        {"conv2d/input:1x100x100x128/kernel:3x3x128x128/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:1x100x100x16/kernel:3x3x16x16/padding:1,1x1,1", "winograd_4", "avx2"},   // transforms weigh more
        {"conv2d/input:1x56x56x128/kernel:3x3x128x128/padding:1,1x1,1", "winograd_4", "avx2"},  // equally many products
        // Few tiles of large weights: smaller tiles have more products, and smaller weights.
        {"conv2d/input:1x7x7x512/kernel:3x3x512x512/padding:1,1x1,1", "winograd_2"},
        // other windows: fewer products, but for few channels or many weights; errors of ten places a side are too large
        {"conv2d/input:1x28x28x16/kernel:5x5x16x32/padding:2,2x2,2", "winograd_4"},
        {"conv2d/input:1x28x28x64/kernel:5x5x64x64/padding:4,4x4,4/rhs_dilation:2x2", "winograd_4"},
        {"conv2d/input:1x14x14x256/kernel:7x7x256x64/padding:3,3x3,3", "winograd_3"},
        // Phases of a dilation whose outputs mostly are none of the convolution: direct sums leave them out.
        {"conv2d/input:1x9x9x128/kernel:5x5x128x128/padding:16,16x16,16/rhs_dilation:8x8", "direct"},
        {"conv2d/input:1x9x9x128/kernel:5x5x128x128/padding:16,16x16,16/rhs_dilation:8x8", "direct", "avx2"},
        {"conv1d/input:1x520x128/kernel:7x128x128/padding:1536,1536/rhs_dilation:512", "direct"},
        {"conv1d/input:1x520x128/kernel:7x128x128/padding:1536,1536/rhs_dilation:512", "direct", "avx2"},
        {"conv2d/input:1x17x17x64/kernel:3x3x64x64/padding:8,8x8,8/rhs_dilation:8x8", "direct"},
        {"conv2d/input:1x33x33x256/kernel:3x3x256x256/padding:12,12x12,12/rhs_dilation:12x12", "winograd_3"},
        {"conv2d/input:1x17x17x160/kernel:1x7x160x160/padding:0,0x3,3", "winograd_4"},
        {"conv2d/input:1x17x17x160/kernel:7x1x160x160/padding:3,3x0,0", "winograd_4"},
        {"conv1d/input:1x1000x80/kernel:3x80x384/padding:1,1", "winograd_4"},
        {"conv2d/input:1x28x28x4/kernel:5x5x4x32/padding:2,2x2,2", "direct"},
        {"conv2d/input:1x28x28x32/kernel:5x5x32x8/padding:2,2x2,2", "direct"},
        {"conv2d/input:1x7x7x512/kernel:7x7x512x1024", "direct"},
        {"conv2d/input:1x240x240x12/kernel:2x2x12x24", "direct"},
        {"conv2d/input:1x28x28x32/kernel:5x5x32x32/padding:2,2x2,2/special_values:exact", "direct"},
        {"conv2d/input:8x7x7x512/kernel:3x3x512x512/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:1x6x6x64/kernel:3x3x64x64/padding:1,1x1,1", "direct"},  // few tiles, half empty
        {"conv2d/input:1x5x5x64/kernel:3x3x64x64/padding:1,1x1,1", "direct"},  // tiles mostly empty
        {"conv2d/input:1x14x14x64/kernel:1x1x64x64", "direct"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/strides:2x2/padding:1,1x1,1", "direct"},
        // Strides: blocks of pixels save fewer products, have more weights, and their pixels must fill vectors.
        {"conv2d/input:1x112x112x64/kernel:3x3x64x64/strides:2x2/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:8x28x28x256/kernel:3x3x256x256/strides:2x2/padding:1,1x1,1", "winograd_3"},
        {"conv2d/input:1x28x28x64/kernel:5x5x64x64/strides:2x2/padding:2,2x2,2", "winograd_4"},
        {"conv2d/input:1x28x28x256/kernel:3x3x256x256/strides:2x2/padding:1,1x1,1", "winograd_2"},  // few tiles
        {"conv2d/input:1x160x160x24/kernel:3x3x24x48/strides:2x2/padding:1,1x1,1", "direct"},
        {"conv2d/input:1x224x224x3/kernel:3x3x3x32/strides:2x2/padding:1,1x1,1", "direct"},
        {"conv2d/input:1x112x112x64/kernel:7x7x64x64/strides:2x2/padding:3,3x3,3", "winograd_4"},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3", "winograd_4"},  // a block is a vector
        {"conv2d/input:1x224x224x8/kernel:7x7x8x64/strides:2x2/padding:3,3x3,3", "winograd_4"},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3", "winograd_4", "avx2"},  // or two
        {"conv2d/input:1x224x224x3/kernel:11x11x3x64/strides:4x4/padding:2,2x2,2", "winograd_4", "avx2"},
        {"conv2d/input:1x224x224x3/kernel:5x5x3x32/strides:2x2/padding:2,2x2,2", "direct", "avx2"},
        {"conv2d/input:1x160x160x3/kernel:7x7x3x16/strides:2x2/padding:2,3x2,3", "direct", "avx2"},
        {"conv2d/input:1x112x112x64/kernel:9x9x64x64/strides:2x2/padding:4,4x4,4", "direct"},  // errors
        {"conv2d/input:1x112x112x64/kernel:1x3x64x64/strides:2x2/padding:0,0x1,1", "direct"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/special_values:exact", "direct"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/lhs_dilation:2x2", "phases"},
        {"conv2d_backprop_input/input:1x14x14x64/kernel:4x4x64x64/strides:2x2/padding:1,1x1,1", "phases"},
        {"conv2d/input:1x28x28x256/kernel:3x3x8x256/rhs_dilation:2x2/feature_group_count:32", "input_phases"},
        {"conv2d/input:1x28x28x256/kernel:3x3x1x256/rhs_dilation:2x2/feature_group_count:256", "direct"},
        {"conv2d/input:1x28x28x256/kernel:3x3x1x256/rhs_dilation:2x2/feature_group_count:256", "direct", "avx2"},
        {"conv2d/input:1x33x33x256/kernel:3x3x1x256/padding:6,6x6,6/rhs_dilation:6x6/feature_group_count:256",
         "input_phases", "avx2"},
        {"conv2d/input:1x33x33x256/kernel:3x3x1x256/padding:6,6x6,6/rhs_dilation:6x6/feature_group_count:256",
         "direct"},
        {"conv2d/input:1x100x100x16/kernel:3x3x1x16/padding:8,8x8,8/rhs_dilation:8x8/feature_group_count:16", "direct",
         "avx2"},
        {"conv2d/input:1x28x28x128/kernel:5x5x1x128/padding:4,4x4,4/rhs_dilation:2x2/feature_group_count:128",
         "input_phases", "avx2"},
        {"conv2d/input:1x28x28x128/kernel:5x5x1x128/padding:4,4x4,4/feature_group_count:128", "direct", "avx2"},
        {"conv2d/input:1x1x400x128/kernel:1x15x1x128/padding:0,0x14,14/rhs_dilation:1x2/feature_group_count:128",
         "direct", "avx2"},
        {"conv2d/input:1x28x28x256/kernel:3x3x8x256/feature_group_count:32", "direct"},
        {"conv2d/input:1x28x28x256/kernel:3x3x8x256/padding:1,1x1,1/feature_group_count:32", "winograd_4", "avx2"},
        {"conv2d/input:1x13x13x384/kernel:3x3x192x384/padding:1,1x1,1/feature_group_count:2", "winograd_4"},
        {"conv2d/input:1x13x13x384/kernel:3x3x192x384/padding:1,1x1,1/feature_group_count:2", "winograd_5", "avx2"},
        {"conv2d/input:1x14x14x1024/kernel:3x3x32x1024/padding:1,1x1,1/feature_group_count:32", "direct"},
        {"conv2d/input:1x14x14x1024/kernel:3x3x32x1024/padding:1,1x1,1/feature_group_count:32", "winograd_5", "avx2"},
        {"conv2d/input:1x56x56x128/kernel:3x3x64x256/strides:2x2/padding:1,1x1,1/feature_group_count:2", "direct"},
        {"conv2d/input:1x128x128x144/kernel:1x1x144x24/padding:1,1x1,1/depthwise:3x3", "separable"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/input_layout:NCHW", "depthwise_turned"},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/feature_group_count:144/input_layout:NCHW", "depthwise_rows"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/input_layout:NCHW", "depthwise_turned",
         "avx2"},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/feature_group_count:144/input_layout:NCHW/"
         "output_layout:NCHW16c",
         "depthwise_turned", "avx2"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows", "avx2"},
        {"conv2d/input:1x14x14x480/kernel:3x3x1x480/strides:2x2/padding:1,1x1,1/feature_group_count:480/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_turned", "avx2"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/padding:2,2x2,2/rhs_dilation:2x2/feature_group_count:64/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_turned", "avx2"},
        {"conv2d/input:1x40x40x120/kernel:5x5x1x120/padding:2,2x2,2/feature_group_count:120/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_turned", "avx2"},
        {"conv2d/input:1x40x40x9/kernel:5x5x1x9/padding:2,2x2,2/feature_group_count:9/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows", "avx2"},
        {"conv2d/input:1x64x64x64/kernel:5x5x1x64/padding:2,2x2,2/feature_group_count:64/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows", "avx2"},
        {"conv2d/input:1x64x64x64/kernel:7x7x1x64/padding:3,3x3,3/feature_group_count:64/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_turned", "avx2"},
        {"conv2d/input:1x7x7x960/kernel:1x3x1x960/padding:0,0x1,1/feature_group_count:960/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows", "avx2"},
        {"conv2d/input:1x7x7x960/kernel:7x1x1x960/padding:3,3x0,0/feature_group_count:960/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows", "avx2"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/output_layout:NCHW", "direct", "avx2"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/input_layout:NCHW", "depthwise_rows",
         "baseline"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/output_layout:NCHW", "depthwise_turned"},
        {"conv2d/input:1x28x28x64/kernel:5x5x1x64/feature_group_count:64/output_layout:NCHW", "direct"},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/feature_group_count:144/output_layout:NCHW", "depthwise_rows"},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/strides:2x2/feature_group_count:144/output_layout:NCHW",
         "direct"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/input_layout:NCHW8c", "direct"},
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/strides:2x2/padding:2,2x2,2/feature_group_count:480/"
         "input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_turned"},
        {"conv2d/input:1x14x14x480/kernel:3x3x1x480/strides:2x2/padding:1,1x1,1/feature_group_count:480/"
         "input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_rows"},
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/padding:2,2x2,2/feature_group_count:480/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_turned"},
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/strides:2x2/padding:2,2x2,2/feature_group_count:480/"
         "input_layout:NCHW8c/output_layout:NCHW8c",
         "direct"},
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/padding:2,2x2,2/feature_group_count:480/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_rows", "x86-64-linux-avx512_zen5"},
        {"conv2d/input:1x14x14x480/kernel:7x7x1x480/padding:3,3x3,3/feature_group_count:480/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_turned", "x86-64-linux-avx512_zen5"},  // each input is copied once for 49 taps
        {"conv2d/input:1x256x256x24/kernel:7x7x1x24/padding:3,3x3,3/feature_group_count:24/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_rows", "x86-64-linux-avx512_zen5"},  // beyond L2
        {"conv2d/input:1x14x14x480/kernel:3x3x1x480/strides:2x2/padding:1,1x1,1/feature_group_count:480/"
         "input_layout:NCHW8c/output_layout:NCHW8c",
         "direct", "x86-64-linux-avx512_zen5"},
        {"conv2d/input:1x32x32x192/kernel:5x5x1x192/strides:2x2/padding:2,2x2,2/feature_group_count:192/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows"},  // a row of results is a vector
        {"conv2d/input:1x12x12x200/kernel:5x5x1x200/padding:2,2x2,2/feature_group_count:200/input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_turned", "x86-64-linux-avx512_zen5"},  // a quarter of each vector would be empty
        {"conv2d/input:1x7x7x200/kernel:5x5x1x200/padding:2,2x2,2/feature_group_count:200/input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_rows", "x86-64-linux-avx512_zen5"},  // turned it loses where weights come from memory
        {"conv2d/input:1x14x14x200/kernel:5x5x1x200/padding:2,2x2,2/feature_group_count:200/input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_rows", "x86-64-linux-avx512_zen5"},
        {"conv2d/input:1x24x24x192/kernel:7x7x1x192/padding:3,3x3,3/feature_group_count:192/input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_turned", "x86-64-linux-avx512_zen5"},
        {"conv2d/input:1x32x32x192/kernel:9x9x1x192/padding:4,4x4,4/feature_group_count:192/input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_rows", "x86-64-linux-avx512_zen5"},  // planes share sets of L1
        {"conv2d/input:1x28x28x64/kernel:3x3x2x64/feature_group_count:32/input_layout:NCHW", "direct"},
        {"conv2d/input:1x14x14x256/kernel:1x1x256x1024", "strassen", "x86-64-linux-avx512_zen5"},
        {"conv2d_backprop_kernel/input:1x14x14x64/kernel:3x3x64x64", "kernel_gradient"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", "quantized",
         "x86-64-linux-avx512_zen4"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert",
         "quantized_winograd_3", "avx2"},
        {"conv2d/input:1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1/dtype:u8/epilogue:requantize_onnx",
         "quantized_winograd_2", "avx2"},  // sums of more channels with the numbers of 3 might leave 32 bits
        {"conv2d/input:1x56x56x128/kernel:3x3x128x128/strides:2x2/padding:1,1x1,1/dtype:u8/epilogue:requantize_onnx",
         "quantized_winograd_2", "avx2"},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3/dtype:u8/epilogue:requantize_onnx",
         "quantized", "avx2"},
        {"conv2d/input:1x3x3x512/kernel:3x3x512x512/padding:1,1x1,1/dtype:u8/epilogue:requantize_onnx", "quantized",
         "avx2"},  // weights for few tiles
        // Three outputs of five taps would need a point that is a fraction: no rival.
        {"conv1d/input:1x400x64/kernel:5x64x64/padding:2,2/dtype:u8/epilogue:requantize_onnx", "quantized_winograd_2",
         "avx2"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", "matrix",
         "amx"},
        {"conv2d/input:1x14x14x64/kernel:3x3x1x64/feature_group_count:64/dtype:i8/epilogue:requantize_litert",
         "quantized_depthwise"},
        {"conv2d/input:1x14x14x64/kernel:3x3x1x64/feature_group_count:64/dtype:u8/"
         "epilogue:requantize_onnx/kernel_dtype:u8",
         "quantized_depthwise", "avx2"},
        {"conv2d/input:1x12x12x1/kernel:3x3x1x1/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", "quantized",
         "x86-64-linux-avx512_zen4"},  // one sum of few products
        {"conv2d/input:1x14x14x64/kernel:1x1x64x128/dtype:u8/epilogue:requantize_onnx", "quantized",
         "x86-64-linux-avx512_zen4"},
        {"conv2d/input:1x14x14x64/kernel:3x3x1x128/feature_group_count:64/dtype:i8/epilogue:requantize_litert",
         "quantized"},  // two outputs a channel
        {"conv2d/input:1x14x14x64/kernel:3x1x1x64/feature_group_count:64/dtype:i8/epilogue:requantize_litert",
         "quantized"},  // one column
        {"conv2d/input:1x14x14x64/kernel:3x3x1x64/feature_group_count:64/dtype:i8/input_layout:NCHW/"
         "epilogue:requantize_litert",
         "quantized"},
        {"conv2d/input:1x14x14x64/kernel:3x3x1x64/feature_group_count:64/dtype:i8/"
         "epilogue:requantize_onnx/kernel_zero_point:true",
         "quantized_depthwise"},
        {"conv2d/input:1x186x186x7/kernel:8x11x7x128/strides:2x2/input_layout:NCHW", "space_to_depth_fused"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128/dtype:i8/epilogue:requantize_litert", "scalar_dense", "rv32im"},
        {"conv2d/input:1x49x10x1/kernel:10x4x1x64/dtype:i8/epilogue:requantize_litert", "scalar_dense", "rv32im"},
        {"conv2d/input:1x96x96x1/kernel:3x3x1x8/dtype:i8/epilogue:requantize_litert", "scalar_depthwise", "rv32im"},
        {"conv2d/input:1x6x6x64/kernel:3x3x1x64/feature_group_count:64/dtype:u8/epilogue:requantize_litert",
         "scalar_depthwise", "rv32im"},
        {"conv2d/input:1x6x6x64/kernel:3x3x2x64/feature_group_count:32/dtype:i8/epilogue:requantize_litert",
         "quantized", "rv32im"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128/dtype:i8/output_dtype:i32", "quantized", "rv32im"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128/dtype:i8/input_layout:NCHW/epilogue:requantize_litert", "quantized",
         "rv32im"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128/dtype:i8/epilogue:requantize_litert/kernel_zero_point:true",
         "quantized", "rv32im"},
    };
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << row.key << ": " << workload.error().message;
        const Target target = *parse_target(row.target, 1, wide_target);
        Core with_races = any_core;
        const Core of_target = core_of(Machine(), target);
        with_races.gains_by_strassen = of_target.gains_by_strassen;
        with_races.shuffles_rows = of_target.shuffles_rows;
        const auto standard = default_candidate(*workload, target, with_races, default_error_budget);
        EXPECT_EQ(standard->algorithm, row.algorithm) << row.key;
        EXPECT_TRUE(check_candidate(*standard, *workload, target)) << row.key << ": " << to_text(*standard);
        EXPECT_EQ(by_preference(*workload, target, any_core, default_error_budget).size(), catalog().size());
    }
    for (const AlgorithmRule &rule : algorithm_rules()) {
        EXPECT_TRUE(find_algorithm(rule.algorithm)) << rule.algorithm;
        EXPECT_TRUE(
            std::any_of(std::begin(rows), std::end(rows), [&](const Row &r) { return r.algorithm == rule.algorithm; }))
            << rule.algorithm << " has no row here";
    }
}

// Where the first may not be used, the next rule that holds says what is.
TEST(AlgorithmChoice, DirectSumsReadFewPlanesAsFast) {
    constexpr struct {
        const char *key, *target;
        bool is_as_fast;
    } rows[] = {
        {"conv2d/input:1x64x64x3/kernel:3x3x3x16/strides:2x2/input_layout:NCHW", "avx512", true},
        {"conv2d/input:1x64x64x3/kernel:3x3x3x16/strides:2x2/input_layout:NCHW", "avx2", true},
        {"conv2d/input:1x64x64x3/kernel:3x3x3x16/strides:2x2/input_layout:NCHW", "sse41", false},  // not measured
        {"conv2d/input:1x64x64x3/kernel:3x3x3x16/strides:2x2", "avx512", false},
        {"conv2d/input:1x64x64x16/kernel:3x3x16x8/input_layout:NCHW", "avx512", false},  // many planes
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3/input_layout:NCHW", "avx512", false},
        {"conv2d/input:1x64x64x3/kernel:3x3x3x16/dtype:i8/output_dtype:i32/input_layout:NCHW", "avx512", false},
    };
    for (const auto &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << workload.error().message;
        const auto target = parse_target(row.target, 1, wide_target);
        ASSERT_TRUE(target);
        EXPECT_EQ(reads_planes_as_fast(*workload, *target, any_core, default_error_budget), row.is_as_fast)
            << row.key << ' ' << row.target;
    }
}

TEST(AlgorithmChoice, RulesThatHoldComeInTheirOrder) {
    const struct {
        const char *key, *target;
        std::vector<std::string> first;
        double error_budget = default_error_budget;
    } rows[] = {
        {"conv2d/input:1x16x16x64/kernel:3x3x64x64/padding:1,1x1,1", "avx512", {"winograd_4", "direct", "phases"}},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/lhs_dilation:2x2", "avx512", {"phases", "direct"}},
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/strides:2x2/padding:2,2x2,2/feature_group_count:480/"
         "input_layout:NCHW/output_layout:NCHW",
         "avx512",
         {"depthwise_turned", "depthwise_rows", "direct"}},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3",
         "avx512",
         {"winograd_4", "direct", "phases"}},
        {"conv2d/input:1x186x186x7/kernel:8x11x7x128/strides:2x2/input_layout:NCHW",
         "avx512",
         {"space_to_depth_fused", "direct", "phases"}},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert",
         "amx",
         {"matrix", "quantized", "phases"}},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert",
         "avx2",
         {"quantized_winograd_3", "quantized", "phases"}},
        // A budget that Winograd may exceed: the next rule is first, and Winograd behind all that keep to the definition.
        {"conv2d/input:1x16x16x64/kernel:3x3x64x64/padding:1,1x1,1", "avx512", {"direct", "phases"}, 1e-6},
    };
    for (const auto &row : rows) {
        const auto order = by_preference(*parse_workload_key(row.key), *parse_target(row.target, 1, wide_target),
                                         any_core, row.error_budget);
        ASSERT_EQ(order.size(), catalog().size());
        std::vector<std::string> first;
        for (size_t i = 0; i < row.first.size(); i++) first.emplace_back(order[i]->name);
        EXPECT_EQ(first, row.first) << row.key;
    }
}

// One column of rows, or of planes, is one row of columns: tiles have columns side by side.
TEST(AlgorithmChoice, ImagesOfOneColumnHaveTheDefaultsOfOneRow) {
    const struct {
        const char *column, *row;
    } table[] = {
        {"conv2d/input:1x1000x1x64/kernel:9x1x64x8", "conv1d/input:1x1000x64/kernel:9x64x8"},
        {"conv2d/input:1x400x1x64/kernel:3x1x64x64/padding:1,1x0,0",
         "conv1d/input:1x400x64/kernel:3x64x64/padding:1,1"},
        {"conv3d/input:1x400x1x1x64/kernel:3x1x1x64x64", "conv1d/input:1x400x64/kernel:3x64x64"},
        {"conv3d/input:1x20x30x1x64/kernel:3x3x1x64x64", "conv2d/input:1x20x30x64/kernel:3x3x64x64"},
        {"conv2d/input:1x90x1x64/kernel:5x1x1x64/strides:2x3/feature_group_count:64",
         "conv1d/input:1x90x64/kernel:5x1x64/strides:2/feature_group_count:64"},
        {"conv2d/input:1x90x1x3/kernel:5x1x3x64/dtype:u8/epilogue:requantize_onnx",
         "conv1d/input:1x90x3/kernel:5x3x64/dtype:u8/epilogue:requantize_onnx"},
        {"conv2d_backprop_kernel/input:1x90x1x8/kernel:5x1x8x64", "conv1d_backprop_kernel/input:1x90x8/kernel:5x8x64"},
    };
    for (const auto &pair : table) {
        for (const char *name : {"avx2", "avx512"}) {
            const Target target = *parse_target(name, 1, wide_target);
            const auto of = [&](const char *text) {
                const auto w = parse_workload_key(text);
                EXPECT_TRUE(w) << text << ": " << w.error().message;
                return to_text(*default_candidate(*w, target, any_core, default_error_budget));
            };
            EXPECT_EQ(of(pair.column), of(pair.row)) << pair.column << " " << name;
        }
    }
}

// Transformed weights are larger than those of direct sums, and come more slowly to CPUs with two wide multipliers.
TEST(AlgorithmChoice, LargeWeightsDecideByTheRateOfMemory) {
    const struct {
        const char *key, *two_multipliers, *zen4;
    } table[] = {
        {"conv2d/input:1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1", "winograd_3", "winograd_5"},
        {"conv2d/input:1x13x13x160/kernel:3x3x160x320/padding:1,1x1,1", "winograd_3", "winograd_5"},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", "winograd_4", "winograd_4"},
        {"conv2d/input:1x28x28x512/kernel:3x3x512x512/padding:1,1x1,1", "winograd_4", "winograd_4"},
        {"conv2d/input:1x56x56x128/kernel:3x3x128x128/strides:2x2/padding:1,1x1,1", "direct", "winograd_4"},
        {"conv2d/input:1x28x28x256/kernel:3x3x256x256/strides:2x2/padding:1,1x1,1", "direct", "winograd_3"},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3", "winograd_4", "winograd_4"},
        {"conv2d/input:1x224x224x3/kernel:11x11x3x64/strides:4x4/padding:5,5x5,5", "winograd_4", "winograd_4"},
    };
    Machine machine;
    machine.l2_bytes = 2 << 20, machine.l3_bytes = 260 << 20;
    for (const auto &row : table) {
        const Workload w = *parse_workload_key(row.key);
        for (const auto &[name, algorithm] : {std::pair{"avx512vnni", row.two_multipliers}, {zen4_target, row.zen4}}) {
            const Target target = *parse_target(name, 1, "");
            const auto candidate = default_candidate(w, target, core_of(machine, target), default_error_budget);
            EXPECT_EQ(candidate->algorithm, algorithm) << row.key << " " << name;
        }
    }
}

TEST(AlgorithmChoice, WideWindowsArePassedByPixelOnAZen2) {
    const struct {
        const char *key, *zen2, *zen3;
    } table[] = {
        {"conv2d/input:1x65x65x256/kernel:3x3x1x256/padding:6,6x6,6/rhs_dilation:6x6/feature_group_count:256", "direct",
         "input_phases"},
        {"conv2d/input:1x33x33x960/kernel:3x3x1x960/padding:12,12x12,12/rhs_dilation:12x12/feature_group_count:960",
         "direct", "input_phases"},  // beyond a quarter of L3
        {"conv2d/input:1x17x17x320/kernel:3x3x1x320/padding:6,6x6,6/rhs_dilation:6x6/feature_group_count:320",
         "input_phases", "input_phases"},  // most taps are in the padding
        {"conv2d/input:1x65x65x256/kernel:5x5x1x256/padding:8,8x8,8/rhs_dilation:4x4/feature_group_count:256",
         "input_phases", "input_phases"},
    };
    const Target target = *parse_target("avx2", 1, "");
    for (const auto &row : table) {
        const Workload w = *parse_workload_key(row.key);
        for (const auto &[machine, algorithm] :
             {std::pair{machine_of_zen2(), row.zen2}, {machine_of_zen3(), row.zen3}}) {
            const auto candidate = default_candidate(w, target, core_of(machine, target), default_error_budget);
            EXPECT_EQ(candidate->algorithm, algorithm) << row.key << " " << machine.cpu_id;
        }
    }
}

// Groups of few channels that fill vectors: where races on an Emerald Rapids said so.
TEST(AlgorithmChoice, FewChannelsAGroupHaveWinogradWhereTheyWereRaced) {
    const struct {
        const char *layer;
        int inputs, groups;
        const char *emerald_rapids, *ice_lake;
    } table[] = {
        {"28x28x128", 32, 4, "winograd_4", "direct"},     {"56x56x64", 16, 4, "winograd_4", "direct"},
        {"28x28x512", 16, 32, "direct", "direct"},                                                     // many groups
        {"28x28x128", 8, 16, "direct", "direct"},                                                      // half vectors
        {"28x28x256", 64, 4, "winograd_4", "winograd_4"}, {"7x7x512", 64, 8, "direct", "winograd_2"},  // few tiles
    };
    const Target target = *parse_target(emerald_rapids_target, 1, "");
    Machine ice_lake = machine_of_emerald_rapids();
    ice_lake.cpu_id = "GenuineIntel-6-106-6";
    for (const auto &row : table) {
        const std::string image = row.layer, channels = image.substr(image.rfind('x') + 1);
        const std::string key = "conv2d/input:1x" + image + "/kernel:3x3x" + std::to_string(row.inputs) + "x" +
                                channels + "/padding:1,1x1,1/feature_group_count:" + std::to_string(row.groups);
        const Workload w = *parse_workload_key(key);
        const auto on = [&](const Machine &machine) {
            return default_candidate(w, target, core_of(machine, target), default_error_budget)->algorithm;
        };
        EXPECT_EQ(on(machine_of_emerald_rapids()), row.emerald_rapids) << key;
        EXPECT_EQ(on(ice_lake), row.ice_lake) << key;
    }
}

std::string chosen_on(const Workload &w, const Machine &machine, const char *name) {
    const Target target = *parse_target(name, 1, "");
    return default_candidate(w, target, core_of(machine, target), default_error_budget)->algorithm;
}

// Blocks of half a vector are shuffled in registers where races said so: with strides on a Zen 5, and short rows on a Golden Cove.
TEST(AlgorithmChoice, HalfVectorsAreShuffledOnCpusThatWereRaced) {
    const struct {
        const char *key, *zen5, *emerald_rapids, *ice_lake;
    } table[] = {
        {"conv2d/input:1x28x28x240/kernel:5x5x1x240/padding:2,2x2,2/feature_group_count:240/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_rows", "depthwise_rows", "depthwise_turned"},
        {"conv2d/input:1x28x28x240/kernel:3x3x1x240/padding:1,1x1,1/feature_group_count:240/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_rows", "depthwise_rows", "direct"},
        {"conv2d/input:1x28x28x240/kernel:5x5x1x240/strides:2x2/padding:2,2x2,2/feature_group_count:240/"
         "input_layout:NCHW8c/output_layout:NCHW8c",
         "depthwise_rows", "depthwise_rows", "direct"},
        {"conv2d/input:1x56x56x144/kernel:5x5x1x144/strides:2x2/padding:2,2x2,2/feature_group_count:144/"
         "input_layout:NCHW8c/output_layout:NCHW8c",
         "depthwise_rows", "direct", "direct"},
        {"conv2d/input:1x28x28x240/kernel:7x7x1x240/padding:3,3x3,3/feature_group_count:240/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_turned", "depthwise_rows", "depthwise_turned"},
    };
    Machine ice_lake = machine_of_emerald_rapids();
    ice_lake.cpu_id = "GenuineIntel-6-106-6";
    for (const auto &row : table) {
        const Workload w = *parse_workload_key(row.key);
        EXPECT_EQ(chosen_on(w, machine_of_zen5(), zen5_target), row.zen5) << row.key;
        EXPECT_EQ(chosen_on(w, machine_of_emerald_rapids(), emerald_rapids_target), row.emerald_rapids) << row.key;
        EXPECT_EQ(chosen_on(w, ice_lake, emerald_rapids_target), row.ice_lake) << row.key;
    }
}

// Turning channels costs more than rows do that were raced on a Golden Cove: by columns of the window, and shuffled in registers.
TEST(AlgorithmChoice, ChannelsAreTurnedWhereRowsAreNotFaster) {
    const struct {
        const char *sizes, *zen5, *emerald_rapids;
    } table[] = {
        {"1x20x20x240/kernel:5x5x1x240/padding:2,2x2,2", "depthwise_turned", "depthwise_rows"},
        {"1x14x14x240/kernel:7x7x1x240/padding:3,3x3,3", "depthwise_turned", "depthwise_rows"},
        {"1x20x20x240/kernel:7x7x1x240/padding:3,3x3,3", "depthwise_turned", "depthwise_turned"},
        {"1x8x8x240/kernel:5x5x1x240/padding:2,2x2,2", "depthwise_turned", "depthwise_turned"},
        {"1x20x20x240/kernel:9x9x1x240/padding:4,4x4,4", "depthwise_turned", "depthwise_turned"},
        {"1x28x28x240/kernel:5x5x1x240/strides:2x2/padding:2,2x2,2", "depthwise_turned", "depthwise_rows"},
        {"1x16x16x240/kernel:5x5x1x240/strides:2x2/padding:2,2x2,2", "depthwise_turned", "depthwise_turned"},
        {"1x28x28x240/kernel:7x7x1x240/strides:2x2/padding:3,3x3,3", "depthwise_turned", "depthwise_rows"},
        {"1x24x24x240/kernel:7x7x1x240/strides:2x2/padding:3,3x3,3", "depthwise_turned", "depthwise_turned"},
    };
    for (const auto &row : table) {
        const Workload w = *parse_workload_key(std::string("conv2d/input:") + row.sizes +
                                               "/feature_group_count:240/input_layout:NCHW/output_layout:NCHW");
        EXPECT_EQ(chosen_on(w, machine_of_zen5(), zen5_target), row.zen5) << row.sizes;
        EXPECT_EQ(chosen_on(w, machine_of_emerald_rapids(), emerald_rapids_target), row.emerald_rapids) << row.sizes;
    }
}

// With 16 registers, some images have no register tile that divides their tiles and keeps the multipliers busy.
TEST(AlgorithmChoice, RegisterTilesDecideAmongTileSizes) {
    const struct {
        const char *layer, *zen2, *zen3;
    } table[] = {
        {"28x28x128/kernel:3x3x128x128", "winograd_5", "winograd_5"},  // six tiles a row for seven
        {"28x28x64/kernel:3x3x64x96", "winograd_4", "winograd_4"},
        {"56x56x64/kernel:3x3x64x64", "winograd_4", "winograd_4"},
        {"40x40x64/kernel:3x3x64x64", "winograd_4", "winograd_4"},
        {"40x40x96/kernel:3x3x96x96", "winograd_5", "winograd_5"},
        {"75x101x128/kernel:3x3x128x128", "winograd_5", "winograd_5"},
        {"300x161x128/kernel:3x3x128x64", "winograd_5", "winograd_5"},
        {"300x161x64/kernel:3x3x64x64", "winograd_5", "winograd_5"},
        {"35x35x96/kernel:3x3x96x96", "winograd_5", "winograd_4"},
        {"14x14x256/kernel:3x3x256x256", "winograd_4", "winograd_5"},  // weights from memory
        {"12x12x512/kernel:3x3x512x512", "winograd_3", "winograd_4"},
    };
    const Target target = *parse_target("avx2", 1, "");
    for (const auto &row : table) {
        const Workload w = *parse_workload_key("conv2d/input:1x" + std::string(row.layer) + "/padding:1,1x1,1");
        const auto on = [&](const Machine &machine) {
            return default_candidate(w, target, core_of(machine, target), default_error_budget)->algorithm;
        };
        EXPECT_EQ(on(machine_of_zen2()), row.zen2) << row.layer;
        EXPECT_EQ(on(machine_of_zen3()), row.zen3) << row.layer;
    }
}

// A first layer sums twelve numbers: the next register tile begins beside it, so that five cycles to a result need no larger tile.
TEST(AlgorithmChoice, ShortSumsOfWinogradDoNotWait) {
    const Target target = *parse_target("avx2", 1, "");
    const Machine zen2 = machine_of_zen2();
    Machine another = zen2;
    another.cpu_id = "";
    const auto on = [&](const Machine &machine) {
        const Workload w = *parse_workload_key("conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3");
        return to_text(*default_candidate(w, target, core_of(machine, target), default_error_budget));
    };
    EXPECT_EQ(on(zen2), on(another));
}

}  // namespace
}  // namespace kiln
