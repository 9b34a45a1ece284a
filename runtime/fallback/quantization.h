// Quantized convolutions of the general kernel. Numbers less their zero points are exact in f32, and so are sums of them over
// one block of the depth, so products are those of f32; sums are exact in double. Only their result is another.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/fallback/tile_product.h"
#include "runtime/kiln.h"

namespace kiln {

// The operands that say how numbers are quantized; null where the workload has none.
struct FallbackQuantization {
    const int32_t *bias = nullptr;
    const int32_t *multiplier = nullptr, *shift = nullptr;  // KILN_EPILOGUE_REQUANTIZE_LITERT
    const float *scale = nullptr;                           // KILN_EPILOGUE_REQUANTIZE_ONNX
    const int32_t *zero_point = nullptr, *bounds = nullptr;
    // Of an addition behind it.
    const int32_t *addend_zero_point = nullptr, *addition_multiplier = nullptr, *addition_shift = nullptr;
    const float *addition_factors = nullptr;
    const int32_t *addition_zero_point = nullptr, *addition_bounds = nullptr;
};

// Products of numbers less their zero points, up to 255 each.
static_assert(int64_t{depth_block} * 255 * 255 < 1 << 24);

// What of a channel's sum is stored.
int32_t quantized_result(const FallbackQuantization &how, int64_t channel, double sum);

// What is stored of such a number, behind which the addend is added.
int32_t quantized_sum(const FallbackQuantization &how, int32_t number, int32_t addend);

}  // namespace kiln
