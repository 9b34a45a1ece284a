// The 16-bit floating-point formats as bit patterns: IEEE binary16 and bfloat16 (the upper half of a binary32).
// Conversions from float round to nearest even, as kernels do when they store.
#pragma once

#include <cstdint>

namespace kiln {

float f16_to_float(uint16_t bits);
uint16_t float_to_f16(float value);

float bf16_to_float(uint16_t bits);
uint16_t float_to_bf16(float value);

}  // namespace kiln
