#include "tuner/reference/quantized/requantize_litert.h"

#include <algorithm>
#include <limits>

namespace kiln {
namespace {

constexpr int32_t smallest = std::numeric_limits<int32_t>::min(), largest = std::numeric_limits<int32_t>::max();

// As gemmlowp has it: a division that rounds towards zero, of a product that was nudged away from it.
int32_t saturating_rounding_doubling_high_mul(int32_t a, int32_t b) {
    if (a == b && a == smallest) return largest;
    const int64_t product = int64_t{a} * b;
    const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
    return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

int32_t rounding_divide_by_power_of_two(int32_t value, int exponent) {
    const auto mask = static_cast<int32_t>((int64_t{1} << exponent) - 1);
    const int32_t remainder = value & mask;
    const int32_t threshold = (mask >> 1) + (value < 0 ? 1 : 0);
    return (value >> exponent) + (remainder > threshold ? 1 : 0);
}

}  // namespace

int32_t requantize_litert(int32_t sum, int32_t multiplier, int32_t shift) {
    const int left = std::max(shift, 0), right = std::max(-shift, 0);
    const int32_t most = largest >> left;
    const int32_t shifted = std::clamp(sum, -most - 1, most) * (int32_t{1} << left);
    return rounding_divide_by_power_of_two(saturating_rounding_doubling_high_mul(shifted, multiplier), right);
}

}  // namespace kiln
