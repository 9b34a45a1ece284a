#include "tuner/reference/bounded_expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace kiln {
namespace {

using scalar::Element;
using scalar::Function;

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

// Roundings of f32 in one of `type`.
double roundings(Element type) { return type == Element::f16 ? 1 << 13 : type == Element::bf16 ? 1 << 16 : 0; }

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

bool is_defined_exactly(const scalar::Expression &expression) {
    return std::ranges::all_of(expression.steps,
                               [](const scalar::Step &step) { return is_defined_exactly(step.function); });
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
    if (step.function == Function::operand) return stack_.push_back(operands[step.operand]);
    if (step.function == Function::constant) return stack_.push_back({rounded(step.type, step.number), 0, true});
    const Bounded *first = &stack_[stack_.size() - typed.count];
    const bool is_exact = is_defined_exactly(step.function) &&
                          std::all_of(first, first + typed.count, [](const Bounded &a) { return a.error == 0; });
    take(typed, operands);
    Bounded &result = stack_.back();
    const bool is_unknown = std::isinf(result.error) && std::isfinite(result.value);  // an integer of no number
    if (is_exact && !is_unknown) result.error = 0;
    if (typed.result == Element::f32) result.value = static_cast<float>(result.value);
}

void BoundedExpression::take(const TypedStep &typed, const std::vector<Bounded> &operands) {
    const scalar::Step &step = *typed.step;
    if (step.function == Function::operand) return stack_.push_back(operands[step.operand]);
    if (step.function == Function::constant)
        return stack_.push_back({step.number, is_integer(step.type) ? 0 : std::fabs(step.number), true});
    Bounded *a = &stack_[stack_.size() - typed.count];
    if (step.function == Function::cast) {
        a[0] = converted(a[0], typed.argument, step.type);
    } else if (step.function == Function::select) {
        a[0] = selected(a[0], a[1], a[2]);
    } else if (typed.count == 1) {
        a[0] = bounded(step.function, typed.argument, a[0]);
    } else {
        // Conditions about integers are those about numbers.
        const Element type = typed.result == Element::boolean ? Element::f32 : typed.argument;
        a[0] = bounded(step.function, type, a[0], a[1]);
    }
    if (typed.roundings > 0)
        a[0] = {rounded(typed.result, a[0].value), a[0].error + std::fabs(a[0].value) * typed.roundings};
    stack_.resize(stack_.size() - typed.count + 1);
}

}  // namespace kiln
