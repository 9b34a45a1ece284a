#include "tuner/reference/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tuner/reference/half.h"
#include "tuner/reference/operands.h"

namespace kiln {

namespace {

template<typename T>
T load(std::span<const std::byte> bytes, size_t index) {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
}

// Arithmetic may answer 0 instead of an f32 below this: Halide's exp() does.
constexpr double least_normal = 0x1p-126;

// Output elements as doubles, what rounding to the stored type may add to an error (relative, and at least: numbers
// close to zero are evenly spaced), and from where on they are infinite.
struct F32 {
    static constexpr double rounding = 0, subnormal_rounding = least_normal;
    static constexpr double overflow = 0x1.ffffffp127;
    static double at(std::span<const std::byte> bytes, size_t i) { return load<float>(bytes, i); }
    static bool poisoned(std::span<const std::byte> bytes, size_t i) {
        return load<uint32_t>(bytes, i) == (uint32_t(poison) << 16 | poison);
    }
};
struct F16 {
    static constexpr double rounding = 0x1p-11, subnormal_rounding = 0x1p-25;
    static constexpr double overflow = 65520;
    static double at(std::span<const std::byte> bytes, size_t i) { return f16_to_float(load<uint16_t>(bytes, i)); }
    static bool poisoned(std::span<const std::byte> bytes, size_t i) { return load<uint16_t>(bytes, i) == poison; }
};
struct BF16 {
    static constexpr double rounding = 0x1p-8, subnormal_rounding = least_normal;
    static constexpr double overflow = 0x1.ffp127;
    static double at(std::span<const std::byte> bytes, size_t i) { return bf16_to_float(load<uint16_t>(bytes, i)); }
    static bool poisoned(std::span<const std::byte> bytes, size_t i) { return load<uint16_t>(bytes, i) == poison; }
};
struct I8 {
    static constexpr double rounding = 0, subnormal_rounding = 0;
    static constexpr double overflow = 128;  // never reached
    static double at(std::span<const std::byte> bytes, size_t i) { return load<int8_t>(bytes, i); }
    // A byte of it may be an ordinary number, so this only explains wrong ones.
    static bool poisoned(std::span<const std::byte> bytes, size_t i) {
        return load<uint8_t>(bytes, i) == (i % 2 ? poison >> 8 : poison & 0xff);
    }
};
struct U8 {
    static constexpr double rounding = 0, subnormal_rounding = 0;
    static constexpr double overflow = 256;  // never reached
    static double at(std::span<const std::byte> bytes, size_t i) { return load<uint8_t>(bytes, i); }
    static bool poisoned(std::span<const std::byte> bytes, size_t i) { return I8::poisoned(bytes, i); }
};
struct I32 {
    static constexpr double rounding = 0, subnormal_rounding = 0;
    static constexpr double overflow = 0x1p31;  // never reached
    static double at(std::span<const std::byte> bytes, size_t i) { return load<int32_t>(bytes, i); }
    static bool poisoned(std::span<const std::byte> bytes, size_t i) { return F32::poisoned(bytes, i); }
};

template<typename Output>
double error_at(const ComparisonRequest &r, size_t i, double largest) {
    const double got = Output::at(r.got, i), expected = r.expected[i];
    if (got == expected || (std::isnan(got) && std::isnan(expected))) {
        return 0;
    }
    const double magnitude = r.against_largest ? largest : r.magnitude[i];
    if (std::isinf(got) && std::copysign(1, got) * expected + r.error_budget * magnitude >= Output::overflow) {
        return 0;  // the right answer in this type
    }
    // What only moves a number does not round it.
    const double least_rounding = is_data_movement(r.workload.op) ? 0 : Output::subnormal_rounding;
    const double rounding = std::max(Output::rounding * std::fabs(expected), least_rounding);
    const double distance = std::fabs(got - expected) - rounding;
    if (distance <= 0) return 0;  // a difference that rounding to the stored type explains
    // A NaN is no distance, and nothing is within a NaN.
    if (std::isnan(distance) || std::isnan(magnitude)) return std::numeric_limits<double>::infinity();
    return std::isinf(magnitude) ? 0 : distance / magnitude;
}

template<typename Output>
std::string explain(const ComparisonRequest &r, double largest) {
    size_t worst = 0, wrong = 0, unwritten = 0;
    double worst_error = -1;
    for (size_t i = 0; i < r.expected.size(); i++) {
        const double error = error_at<Output>(r, i, largest);
        wrong += error > r.error_budget;
        unwritten += Output::poisoned(r.got, i) && error > r.error_budget;
        if (error > worst_error) {
            worst = i;
            worst_error = error;
        }
    }
    std::string text = result_position(r.workload, int64_t(worst));
    if (Output::poisoned(r.got, worst)) {
        text += fmt::format(" was not written, expected {:.9g}", r.expected[worst]);
    } else {
        text += fmt::format(" is {:.9g}, expected {:.9g}", Output::at(r.got, worst), r.expected[worst]);
    }
    if (std::isfinite(worst_error)) {
        text += fmt::format(", an error of {:.2g} relative to {} (budget {:.2g})", worst_error,
                            r.against_largest ? "the layer's largest sum of magnitudes" : "its sum of magnitudes",
                            r.error_budget);
    }
    text += fmt::format("; {} of {} elements are wrong", wrong, r.expected.size());
    return unwritten ? text + fmt::format(", {} of them were not written", unwritten) : text;
}

template<typename Output>
Comparison compare_as(const ComparisonRequest &r) {
    double largest = 0;
    for (size_t i = 0; r.against_largest && i < r.magnitude.size(); i++) {
        if (r.magnitude[i] > largest) largest = r.magnitude[i];  // a NaN is not
    }
    Comparison result;
    double squares = 0;
    for (size_t i = 0; i < r.expected.size(); i++) {
        const double error = error_at<Output>(r, i, largest);
        result.max_error = std::max(result.max_error, error);
        squares += error * error;
    }
    result.rms_error = r.expected.empty() ? 0 : std::sqrt(squares / double(r.expected.size()));
    if (result.max_error > r.error_budget) {
        result.problem = explain<Output>(r, largest);
    }
    return result;
}

}  // namespace

void fill_with_poison(std::span<std::byte> bytes) {
    const std::byte pattern[2] = {std::byte(poison & 0xff), std::byte(poison >> 8)};
    for (size_t i = 0; i < bytes.size(); i++) {
        bytes[i] = pattern[i % 2];
    }
}

Comparison compare(const ComparisonRequest &request) {
    switch (request.workload.output_dtype) {
        case DType::f16:
            return compare_as<F16>(request);
        case DType::bf16:
            return compare_as<BF16>(request);
        case DType::i8:
            return compare_as<I8>(request);
        case DType::i32:
            return compare_as<I32>(request);
        case DType::u8:
            return compare_as<U8>(request);
        case DType::f32:
            break;
    }
    return compare_as<F32>(request);
}

}  // namespace kiln
