#include "runtime/fallback/quantization.h"

namespace kiln {
namespace {

int64_t clamp(int64_t value, int64_t lo, int64_t hi) { return value < lo ? lo : value > hi ? hi : value; }

// KILN_EPILOGUE_REQUANTIZE_LITERT of runtime/kiln.h, in steps that cannot overflow.
int64_t litert(int64_t sum, int64_t multiplier, int shift) {
    const int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
    const int64_t most = INT32_MAX >> left;
    const int64_t shifted = clamp(sum, -most - 1, most) * (int64_t{1} << left);
    const int64_t high = (shifted * multiplier + (int64_t{1} << 30)) >> 31;
    const int64_t half = (int64_t{1} << right) >> 1;
    return high < 0 ? -((-high + half) >> right) : (high + half) >> right;
}

// KILN_EPILOGUE_REQUANTIZE_ONNX. Adding 1.5 * 2^52 rounds numbers that are small enough to even.
int64_t onnx(int64_t sum, float scale) {
    constexpr double shifter = 6755399441055744.0;
    const float product = static_cast<float>(sum) * scale;
    if (product > 65536) return 65536;
    if (product < -65536) return -65536;
    const double rounded = static_cast<double>(product) + shifter;
    return static_cast<int64_t>(rounded - shifter);
}

}  // namespace

int32_t quantized_result(const FallbackQuantization &how, int64_t channel, double of_products) {
    const int64_t sum = static_cast<int64_t>(of_products) + (how.bias == nullptr ? 0 : how.bias[channel]);
    if (how.bounds == nullptr) return static_cast<int32_t>(sum);
    const int64_t number =
        how.scale != nullptr ? onnx(sum, how.scale[channel]) : litert(sum, how.multiplier[channel], how.shift[channel]);
    return static_cast<int32_t>(clamp(number + *how.zero_point, how.bounds[0], how.bounds[1]));
}

}  // namespace kiln
