#include "tuner/reference/bounded.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "workload/error_budget.h"

namespace kiln {
namespace {

using scalar::Element;
using scalar::Function;

constexpr double exact_integers = 0x1p24;  // of f32

// An error that is larger than the budget allows, whatever is compared with it: of what kernels may decide either way.
constexpr double any_error = 1 / default_error_budget;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double least_normal_f32 = std::numeric_limits<float>::min();
constexpr double largest_f32 = std::numeric_limits<float>::max();

double reach(const Bounded &x) { return x.is_given ? 0 : x.error * default_error_budget; }

// Of a number that is not: then a quotient or a logarithm may be anything.
bool may_be_zero(const Bounded &x) { return x.value != 0 && reach(x) >= std::fabs(x.value); }

// Where rounding an inexact number goes another way than rounding the exact one, the difference is an error.
template<typename Round>
Bounded rounded_to_whole(const Bounded &x, const Round &round) {
    // An error of a whole step that was divided by the budget may be a last place less than a step now.
    const double value = round(x.value), far = reach(x) * (1 + 0x1p-40);
    const double difference = std::max(round(x.value + far) - value, value - round(x.value - far));
    return {value, difference > 0 ? difference / default_error_budget : 0, x.is_given};
}

// A condition that an error could turn, or one of numbers that are given.
Bounded condition(bool holds, bool is_close, bool is_given) {
    return {double(holds), is_close && !is_given ? any_error : 0, is_given};
}

bool is_whole(double value) { return std::trunc(value) == value && std::fabs(value) <= exact_integers; }

// An error behind a slope: what has none passes none on, however steep; what is not bounded is not, however flat.
double passed_by(double slope, double error) {
    if (error == 0) return 0;
    const double passed = std::fabs(slope) * error;
    return std::isnan(passed) ? infinity : passed;
}

// A sum, difference or product, with what it passes on. Whole numbers that f32 has are not rounded.
Bounded rounded_result(const Bounded &a, const Bounded &b, double value, double passed) {
    const bool is_exact = passed == 0 && is_whole(a.value) && is_whole(b.value) && is_whole(value);
    return {value, is_exact ? 0 : std::max(passed, std::fabs(value))};
}

// f(x) with the slope f'(x): what it passes on, and its own rounding.
Bounded through(double value, double slope, double error) {
    return {value, passed_by(slope, error) + std::fabs(value)};
}

Bounded of_one(Function function, const Bounded &x) {
    const double v = x.value;
    switch (function) {
        case Function::absolute:
            return {std::fabs(v), x.error, x.is_given};
        case Function::negate:
            return {-v, x.error, x.is_given};
        case Function::sign:
            return {std::isnan(v) ? v : double(v > 0) - double(v < 0),
                    !x.is_given && std::fabs(v) <= reach(x) ? 2 * any_error : 0, x.is_given};
        case Function::reciprocal:
            return through(1 / v, may_be_zero(x) ? infinity : 1 / (v * v), x.error);
        case Function::square_root:
            return through(std::sqrt(v), 0.5 / std::sqrt(v), x.error);
        case Function::exponential:
            return through(std::exp(v), std::exp(v), x.error);
        case Function::logarithm:
            return through(std::log(v), may_be_zero(x) ? infinity : 1 / v, x.error);
        case Function::logarithm_1p:
            return through(std::log1p(v), 1 / (1 + v), x.error);
        case Function::sine:
            return through(std::sin(v), std::cos(v), x.error);
        case Function::cosine:
            return through(std::cos(v), std::sin(v), x.error);
        case Function::tangent_hyperbolic:
            return through(std::tanh(v), 1 - std::tanh(v) * std::tanh(v), x.error);
        case Function::error_function:
            return through(std::erf(v), 2 / std::sqrt(M_PI) * std::exp(-v * v), x.error);
        case Function::sigmoid: {
            const double s = 1 / (1 + std::exp(-v));
            return through(s, s * (1 - s), x.error);
        }
        case Function::floor:
            return rounded_to_whole(x, [](double number) { return std::floor(number); });
        case Function::ceil:
            return rounded_to_whole(x, [](double number) { return std::ceil(number); });
        case Function::round:
            return rounded_to_whole(x, [](double number) { return std::nearbyint(number); });
        case Function::logical_not:
            return {double(v == 0), x.error, x.is_given};
        case Function::is_nan:
            return {double(std::isnan(v)), 0, x.is_given};
        default:
            return {double(std::isinf(v)), 0, x.is_given};
    }
}

Bounded power(const Bounded &a, const Bounded &b) {
    const double value = std::pow(a.value, b.value);
    const double by_base = b.value * std::pow(a.value, b.value - 1);
    // exp(b log a): the rounding of b log a is multiplied, too.
    const double logarithm = a.value == 0 ? 0 : std::log(std::fabs(a.value));
    const double roundings = 1 + passed_by(logarithm, std::fabs(b.value)) + passed_by(logarithm, b.error);
    return {value, passed_by(by_base, a.error) + passed_by(roundings, std::fabs(value))};
}

Bounded of_two(Function function, const Bounded &a, const Bounded &b) {
    const double x = a.value, y = b.value;
    const bool is_given = a.is_given && b.is_given, is_close = std::fabs(x - y) <= reach(a) + reach(b);
    switch (function) {
        case Function::add:
            return rounded_result(a, b, x + y, a.error + b.error);
        case Function::subtract:
            return rounded_result(a, b, x - y, a.error + b.error);
        case Function::multiply: {
            // Without passed_by() where that is the same: many references are nothing but products.
            double passed = std::fabs(y) * a.error + std::fabs(x) * b.error;
            if (std::isnan(passed)) passed = passed_by(y, a.error) + passed_by(x, b.error);
            return rounded_result(a, b, x * y, passed);
        }
        case Function::divide:
            if (may_be_zero(b)) return {x / y, infinity};
            return {x / y, passed_by(1 / y, a.error) + passed_by(x / y, passed_by(1 / y, b.error)) + std::fabs(x / y)};
        case Function::remainder: {
            const double rest = std::fmod(x, y), value = rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
            return {value, a.error + passed_by(std::floor(x / y), b.error)};
        }
        case Function::power:
            return power(a, b);
        case Function::minimum:
            return {x < y || std::isnan(x) ? x : y, std::max(a.error, b.error), is_given};
        case Function::maximum:
            return {x > y || std::isnan(x) ? x : y, std::max(a.error, b.error), is_given};
        case Function::equal:
            return condition(x == y, is_close, is_given);
        case Function::less:
            return condition(x < y, is_close, is_given);
        case Function::less_or_equal:
            return condition(x <= y, is_close, is_given);
        case Function::logical_and:
            return condition(x != 0 && y != 0, a.error + b.error > 0, is_given);
        case Function::logical_or:
            return condition(x != 0 || y != 0, a.error + b.error > 0, is_given);
        default:
            return condition((x != 0) != (y != 0), a.error + b.error > 0, is_given);  // logical_xor
    }
}

// What an integer of `type` is after arithmetic, which wraps around. Precondition: it has less than 64 bits (wide_integers.h).
double wrapped(Element type, double value) {
    const int bits = 8 * scalar::size_of(type);
    const auto range = static_cast<double>(uint64_t{1} << bits);
    const bool is_unsigned = type == Element::u8 || type == Element::u16 || type == Element::u32;
    const double lowest = is_unsigned ? 0 : -range / 2;
    if (value >= lowest && value < lowest + range) return value;
    const double rest = value - std::floor(value / range) * range;
    return !is_unsigned && rest >= range / 2 ? rest - range : rest;
}

// Floats are cut off, and saturate.
double cut_off(Element type, double value) {
    std::array<std::byte, 8> bytes{};
    scalar::write_float(type, std::trunc(value), bytes.data());
    return static_cast<double>(scalar::read_integer(type, bytes.data()));
}

}  // namespace

double error_of_integers(Function function, const Bounded &a, const Bounded &b) {
    if (a.error == 0 && b.error == 0) return 0;
    switch (function) {
        case Function::add:
        case Function::subtract:
            return a.error + b.error;
        case Function::multiply:
            return passed_by(b.value, a.error) + passed_by(a.value, b.error);
        case Function::minimum:
        case Function::maximum:
            return std::max(a.error, b.error);
        default:
            return infinity;
    }
}

Bounded compared(bool holds, const Bounded &a, const Bounded &b) {
    return condition(holds, std::fabs(a.value - b.value) <= reach(a) + reach(b), a.is_given && b.is_given);
}

namespace {

double value_of_integers(Function function, Element type, double x, double y) {
    if (function == Function::divide) return y == 0 ? 0 : wrapped(type, std::trunc(x / y));
    if (function == Function::remainder && y == 0) return 0;
    if (function == Function::power) return cut_off(type, std::pow(x, y));
    if (function == Function::multiply) {  // a product may need more digits than a double has
        const auto product =
            static_cast<uint64_t>(static_cast<int64_t>(x)) * static_cast<uint64_t>(static_cast<int64_t>(y));
        return wrapped(type, static_cast<double>(static_cast<uint32_t>(product)));
    }
    return wrapped(type, of_two(function, {x}, {y}).value);
}

Bounded of_integers(Function function, Element type, const Bounded &a, const Bounded &b) {
    return {value_of_integers(function, type, a.value, b.value), error_of_integers(function, a, b),
            a.is_given && b.is_given};
}

}  // namespace

Bounded within_f32(const Bounded &x) {
    const double size = std::fabs(x.value);
    if (std::isfinite(size) && size - reach(x) > largest_f32) return {std::copysign(infinity, x.value), 0, x.is_given};
    const bool loses_digits = size > 0 && size < least_normal_f32;
    if (!loses_digits || x.is_given) return x;
    return {x.value, std::max(x.error, least_normal_f32 / default_error_budget)};
}

Bounded bounded(Function function, Element type, const Bounded &x) {
    Bounded result = of_one(function, x);
    if (is_integer(type)) result.value = wrapped(type, result.value);
    return result;
}

Bounded bounded(Function function, Element type, const Bounded &a, const Bounded &b) {
    return is_integer(type) ? of_integers(function, type, a, b) : of_two(function, a, b);
}

Bounded bounded_number(Element type, double value) {
    return is_integer(type) ? Bounded{cut_off(type, value), 0, true} : Bounded{value, std::fabs(value), true};
}

Bounded converted(const Bounded &x, Element from, Element to) {
    if (from == Element::boolean || to == Element::boolean) {
        return {to == Element::boolean ? double(x.value != 0) : x.value,
                from == Element::boolean ? x.error : condition(true, std::fabs(x.value) <= reach(x), x.is_given).error,
                x.is_given};
    }
    if (!is_integer(to)) {
        const bool is_rounded = is_integer(from) && std::fabs(x.value) > exact_integers;
        return {x.value, is_rounded ? std::max(std::fabs(x.value), x.error) : x.error, x.is_given};
    }
    if (is_integer(from)) return {wrapped(to, x.value), x.error, x.is_given};
    // ONNX leaves open which integer comes of what is no number.
    if (std::isnan(x.value)) return {0, infinity};
    return rounded_to_whole(x, [to](double number) { return cut_off(to, number); });
}

// Where the condition could turn, the other value is within the error.
Bounded selected(const Bounded &condition, const Bounded &then, const Bounded &otherwise) {
    Bounded result = condition.value != 0 ? then : otherwise;
    result.is_given = condition.is_given && then.is_given && otherwise.is_given;
    if (condition.error == 0) return result;
    const double apart = std::fabs(then.value - otherwise.value);
    result.error = std::max(then.error, otherwise.error) + (apart > 0 ? apart * any_error : 0);
    if (std::isnan(apart)) result.error = infinity;
    return result;
}

}  // namespace kiln
