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

// Halves to even. Adding 1.5 * 2^52 rounds numbers that are small enough.
int64_t nearest(float number) {
    constexpr double shifter = 6755399441055744.0;
    if (number > 65536) return 65536;
    if (number < -65536) return -65536;
    const double rounded = static_cast<double>(number) + shifter;
    return static_cast<int64_t>(rounded - shifter);
}

// KILN_EPILOGUE_REQUANTIZE_ONNX.
int64_t onnx(int64_t sum, float scale) { return nearest(static_cast<float>(sum) * scale); }

int64_t litert_sum(const FallbackQuantization &how, int64_t number, int64_t addend) {
    constexpr int64_t more_bits = 1 << 20;
    const auto scaled = [&](int64_t x, int i) { return litert(x, how.addition_multiplier[i], how.addition_shift[i]); };
    return scaled(
        scaled((number - *how.zero_point) * more_bits, 0) + scaled((addend - *how.addend_zero_point) * more_bits, 1),
        2);
}

// In double, products of two numbers of f32 are exact, and sums of two as good as exact. So each step is rounded once, and no compiler
// joins two of them.
int64_t onnx_sum(const float (&factors)[3], int32_t number, int32_t addend) {
    const auto a = static_cast<float>(double(number) * double(factors[0]));
    const auto b = static_cast<float>(double(addend) * double(factors[1]));
    const auto both = static_cast<float>(double(a) + double(b));
    return nearest(static_cast<float>(double(both) + double(factors[2])));
}

}  // namespace

int32_t quantized_result(const FallbackQuantization &how, int64_t channel, double of_products) {
    const int64_t sum = static_cast<int64_t>(of_products) + (how.bias == nullptr ? 0 : how.bias[channel]);
    if (how.bounds == nullptr) return static_cast<int32_t>(sum);
    const int64_t number =
        how.scale != nullptr ? onnx(sum, how.scale[channel]) : litert(sum, how.multiplier[channel], how.shift[channel]);
    return static_cast<int32_t>(clamp(number + *how.zero_point, how.bounds[0], how.bounds[1]));
}

int32_t quantized_sum(const FallbackQuantization &how, int32_t number, int32_t addend) {
    const float *f = how.addition_factors;
    const int64_t sum = f != nullptr ? onnx_sum({f[0], f[1], f[2]}, number, addend) : litert_sum(how, number, addend);
    return static_cast<int32_t>(clamp(sum + *how.addition_zero_point, how.addition_bounds[0], how.addition_bounds[1]));
}

}  // namespace kiln
