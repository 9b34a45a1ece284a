#include "tuner/reference/half.h"

#include <bit>
#include <cmath>

namespace kiln {

float f16_to_float(uint16_t bits) {
    const uint32_t sign = uint32_t(bits & 0x8000) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1f;
    const uint32_t fraction = bits & 0x3ff;
    if (exponent == 0x1f) {  // Inf, NaN
        return std::bit_cast<float>(sign | 0x7f800000 | (fraction << 13));
    }
    if (exponent == 0) {  // zero and subnormals: fraction x 2^-24, exact in binary32
        const float magnitude = std::ldexp(float(fraction), -24);
        return sign ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

uint16_t float_to_f16(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint16_t sign = uint16_t((bits >> 16) & 0x8000);
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {
        return sign | 0x7e00;  // NaN, quiet
    }
    if (magnitude >= 0x477ff000) {
        return sign | 0x7c00;  // halfway between 65504 and 65536, and beyond: infinity
    }
    if (magnitude < 0x38800000) {  // below 2^-14: adding 1/2 aligns and rounds the fraction to units of 2^-24
        return sign | uint16_t(std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000);
    }
    const uint32_t odd = (magnitude >> 13) & 1;
    return sign | uint16_t((magnitude - 0x38000000 + 0xfff + odd) >> 13);
}

float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

uint16_t float_to_bf16(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) {
        return uint16_t(bits >> 16) | 0x40;  // NaN, quiet
    }
    return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace kiln
