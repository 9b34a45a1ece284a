#include "tuner/reference/bounded_expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "workload/error_budget.h"

namespace kiln {
namespace {

using scalar::Element;
using scalar::Function;

constexpr double exact_integers = 0x1p24;  // of f32

// f(x) with the slope f'(x): what it passes on, and its own rounding.
Bounded through(double value, double slope, double error) {
    const double passed = error == 0 ? 0 : std::fabs(slope) * error;
    return {value, passed + std::fabs(value)};
}

Bounded of_one(Function function, const Bounded &x) {
    const double v = x.value;
    switch (function) {
        case Function::absolute:
            return {std::fabs(v), x.error};
        case Function::negate:
            return {-v, x.error};
        case Function::sign:
            return {std::isnan(v) ? v : double(v > 0) - double(v < 0), 0};
        case Function::reciprocal:
            return through(1 / v, 1 / (v * v), x.error);
        case Function::square_root:
            return through(std::sqrt(v), 0.5 / std::sqrt(v), x.error);
        case Function::exponential:
            return through(std::exp(v), std::exp(v), x.error);
        case Function::logarithm:
            return through(std::log(v), 1 / v, x.error);
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
            return {std::floor(v), 0};
        case Function::ceil:
            return {std::ceil(v), 0};
        case Function::round:
            return {std::nearbyint(v), 0};
        case Function::logical_not:
            return {double(v == 0), 0};
        case Function::is_nan:
            return {double(std::isnan(v)), 0};
        default:
            return {double(std::isinf(v)), 0};
    }
}

Bounded power(const Bounded &a, const Bounded &b) {
    const double value = std::pow(a.value, b.value);
    const double by_base = b.value * std::pow(a.value, b.value - 1);
    // exp(b log a): the rounding of b log a is multiplied, too.
    const double exponent = a.value == 0 ? 0 : std::fabs(b.value * std::log(std::fabs(a.value)));
    return {value, std::fabs(by_base) * a.error +
                       std::fabs(value) * (1 + exponent + b.error * exponent / std::max(std::fabs(b.value), 1e-300))};
}

Bounded of_two(Function function, const Bounded &a, const Bounded &b) {
    const double x = a.value, y = b.value;
    switch (function) {
        case Function::add:
            return {x + y, a.error + b.error};
        case Function::subtract:
            return {x - y, a.error + b.error};
        case Function::multiply:
            return {x * y, std::fabs(y) * a.error + std::fabs(x) * b.error};
        case Function::divide:
            return {x / y, a.error / std::fabs(y) + std::fabs(x / y) * (b.error / std::fabs(y)) + std::fabs(x / y)};
        case Function::remainder: {
            const double rest = std::fmod(x, y), value = rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
            return {value, a.error + std::fabs(std::floor(x / y)) * b.error};
        }
        case Function::power:
            return power(a, b);
        case Function::minimum:
            return {x < y || std::isnan(x) ? x : y, std::max(a.error, b.error)};
        case Function::maximum:
            return {x > y || std::isnan(x) ? x : y, std::max(a.error, b.error)};
        case Function::equal:
            return {double(x == y), 0};
        case Function::less:
            return {double(x < y), 0};
        case Function::less_or_equal:
            return {double(x <= y), 0};
        case Function::logical_and:
            return {double(x != 0 && y != 0), 0};
        case Function::logical_or:
            return {double(x != 0 || y != 0), 0};
        default:
            return {double((x != 0) != (y != 0)), 0};  // logical_xor
    }
}

// What an integer of `type` is after arithmetic, which wraps around. Those of 64 bits are as exact as f64.
double wrapped(Element type, double value) {
    const int bits = 8 * scalar::size_of(type);
    if (bits == 64) return value;
    const double range = std::ldexp(1, bits), rest = value - std::floor(value / range) * range;
    const bool is_unsigned = type == Element::u8 || type == Element::u16 || type == Element::u32;
    return !is_unsigned && rest >= range / 2 ? rest - range : rest;
}

bool is_integer(Element type) { return !scalar::is_float(type) && type != Element::boolean; }

// Floats are cut off, and saturate.
double cut_off(Element type, double value) {
    std::array<std::byte, 8> bytes{};
    scalar::write_float(type, std::trunc(value), bytes.data());
    return static_cast<double>(scalar::read_integer(type, bytes.data()));
}

// Where rounding an inexact number goes another way than rounding the exact one, the difference is an error.
template<typename Round>
Bounded rounded_to_whole(const Bounded &x, const Round &round) {
    const double reach = x.error * default_error_budget, value = round(x.value);
    const double difference = std::max(round(x.value + reach) - value, value - round(x.value - reach));
    return {value, difference > 0 ? difference / default_error_budget : 0};
}

// What IEEE 754 defines to the last bit.
bool is_defined_exactly(Function function) {
    switch (function) {
        case Function::exponential:
        case Function::logarithm:
        case Function::logarithm_1p:
        case Function::sine:
        case Function::cosine:
        case Function::tangent_hyperbolic:
        case Function::error_function:
        case Function::sigmoid:
        case Function::remainder:
        case Function::power:
            return false;
        default:
            return true;
    }
}

double rounded(Element type, double value) {
    std::array<std::byte, 8> bytes{};
    scalar::write_float(type, value, bytes.data());
    return scalar::read_float(type, bytes.data());
}

Bounded converted(const Bounded &x, Element from, Element to) {
    if (to == Element::boolean) return {double(x.value != 0), 0};
    if (!is_integer(to))
        return {x.value, is_integer(from) && std::fabs(x.value) > exact_integers ? std::fabs(x.value) : x.error};
    if (is_integer(from)) return {wrapped(to, x.value), 0};
    return {cut_off(to, x.value), 0};
}

// Roundings of f32 in one of `type`.
double roundings(Element type) { return type == Element::f16 ? 1 << 13 : type == Element::bf16 ? 1 << 16 : 0; }

Bounded of_integers(Function function, Element type, const Bounded &a, const Bounded &b) {
    const double x = a.value, y = b.value;
    if (function == Function::divide) return {y == 0 ? 0 : wrapped(type, std::trunc(x / y)), 0};
    if (function == Function::remainder && y == 0) return {};
    if (function == Function::power) return {cut_off(type, std::pow(x, y)), 0};
    if (function == Function::multiply &&
        scalar::size_of(type) < 8) {  // a product may need more digits than a double has
        const auto product =
            static_cast<uint64_t>(static_cast<int64_t>(x)) * static_cast<uint64_t>(static_cast<int64_t>(y));
        return {wrapped(type, static_cast<double>(static_cast<uint32_t>(product))), 0};
    }
    return {wrapped(type, of_two(function, a, b).value), 0};
}

Element result_type(const scalar::Step &step, Element argument, const std::vector<Element> &operands) {
    switch (step.function) {
        case Function::operand:
            return operands.empty() ? Element::f32 : operands[step.operand];
        case Function::constant:
        case Function::cast:
            return step.type;
        case Function::is_nan:
        case Function::is_infinite:
        case Function::equal:
        case Function::less:
        case Function::less_or_equal:
            return Element::boolean;
        default:
            return argument;
    }
}

}  // namespace

Bounded bounded(Function function, Element type, const Bounded &a, const Bounded &b) {
    return is_integer(type) ? of_integers(function, type, a, b) : of_two(function, a, b);
}

Bounded bounded_number(Element type, double value) {
    return is_integer(type) ? Bounded{cut_off(type, value), 0} : Bounded{value, std::fabs(value)};
}

BoundedExpression::BoundedExpression(const scalar::Expression &expression, const std::vector<Element> &operands,
                                     Rounding rounding)
    : is_exact_(rounding == Rounding::exact) {
    stack_.reserve(expression.steps.size());
    std::vector<Element> types;
    for (const scalar::Step &step : expression.steps) {
        const int count = scalar::argument_count(step.function);
        const Element argument = count == 0 ? Element::f32 : types.back();
        const Element result = result_type(step, argument, operands);
        types.resize(types.size() - count);
        types.push_back(result);
        steps_.push_back({&step, argument, result, static_cast<size_t>(count), count == 0 ? 0 : roundings(result)});
    }
}

Bounded BoundedExpression::operator()(const std::vector<Bounded> &operands) {
    stack_.clear();
    for (const TypedStep &typed : steps_) {
        is_exact_ ? take_exactly(typed, operands) : take(typed, operands);
    }
    return stack_.back();
}

// In f32 step by step, as kernels compute what they round to integers. Only what IEEE 754 leaves open is an error.
void BoundedExpression::take_exactly(const TypedStep &typed, const std::vector<Bounded> &operands) {
    const scalar::Step &step = *typed.step;
    if (step.function == Function::operand)
        return stack_.push_back({operands[step.operand].value, operands[step.operand].error});
    if (step.function == Function::constant) return stack_.push_back({rounded(step.type, step.number), 0});
    const Bounded *first = &stack_[stack_.size() - typed.count];
    const bool is_exact = is_defined_exactly(step.function) &&
                          std::all_of(first, first + typed.count, [](const Bounded &a) { return a.error == 0; });
    const Bounded x = *first;
    take(typed, operands);
    Bounded &result = stack_.back();
    if (is_exact) {
        result.error = 0;
    } else if (step.function == Function::round) {
        result = rounded_to_whole(x, [](double number) { return std::nearbyint(number); });
    } else if (step.function == Function::cast && is_integer(step.type) && !is_integer(typed.argument)) {
        result = rounded_to_whole(x, [&](double number) { return cut_off(step.type, number); });
    }
    if (typed.result == Element::f32) result.value = static_cast<float>(result.value);
}

void BoundedExpression::take(const TypedStep &typed, const std::vector<Bounded> &operands) {
    const scalar::Step &step = *typed.step;
    if (step.function == Function::operand) return stack_.push_back(operands[step.operand]);
    if (step.function == Function::constant)
        return stack_.push_back({step.number, is_integer(step.type) ? 0 : std::fabs(step.number)});
    Bounded *a = &stack_[stack_.size() - typed.count];
    if (step.function == Function::cast) {
        a[0] = converted(a[0], typed.argument, step.type);
    } else if (step.function == Function::select) {
        a[0] = a[0].value != 0 ? a[1] : a[2];
    } else if (typed.count == 1) {
        a[0] = of_one(step.function, a[0]);
        if (is_integer(typed.argument)) a[0] = {wrapped(typed.argument, a[0].value), 0};
    } else if (is_integer(typed.argument) && typed.result != Element::boolean) {
        a[0] = of_integers(step.function, typed.argument, a[0], a[1]);
    } else {
        a[0] = of_two(step.function, a[0], a[1]);
    }
    if (typed.roundings > 0)
        a[0] = {rounded(typed.result, a[0].value), a[0].error + std::fabs(a[0].value) * typed.roundings};
    stack_.resize(stack_.size() - typed.count + 1);
}

}  // namespace kiln
