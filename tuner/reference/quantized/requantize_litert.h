// The requantization of LiteRT's (TensorFlow Lite's) reference kernels: MultiplyByQuantizedMultiplier with its two roundings
// (tensorflow/lite/kernels/internal/common.h), made of gemmlowp's SaturatingRoundingDoublingHighMul and RoundingDivideByPOT
// (gemmlowp/fixedpoint/fixedpoint.h).
//
// A sum that a left shift takes beyond i32 is undefined there. Here it saturates to what the shift leaves in i32.
#pragma once

#include <cstdint>

namespace kiln {

// About sum * multiplier * 2^(shift - 31), before the zero point and the bounds. Precondition: multiplier from 0 on, shift from
// -31 to 30.
int32_t requantize_litert(int32_t sum, int32_t multiplier, int32_t shift);

}  // namespace kiln
