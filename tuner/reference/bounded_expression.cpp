#include "tuner/reference/bounded_expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tuner/reference/wide_integers.h"

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
    stack_.resize(expression.steps.size());
    wide_.resize(expression.steps.size());
    std::vector<Element> types;
    for (const scalar::Step &step : expression.steps) {
        const int count = scalar::argument_count(step.function);
        const Element argument = count == 0 ? Element::f32 : types.back();
        const Element result = result_type(step, argument, operands);
        types.resize(types.size() - count);
        types.push_back(result);
        steps_.push_back({&step, argument, result, static_cast<size_t>(count), count == 0 ? 0 : roundings(result)});
    }
    const auto is = [&](size_t i, Function function) { return steps_[i].step->function == function; };
    is_product_ = !is_exact_ && steps_.size() == 3 && is(0, Function::operand) && is(1, Function::operand) &&
                  is(2, Function::multiply) && steps_[2].roundings == 0;
}

Bounded BoundedExpression::operator()(const std::vector<Bounded> &operands) {
    if (is_product_) {
        return bounded(Function::multiply, steps_[2].argument, operands[steps_[0].step->operand],
                       operands[steps_[1].step->operand]);
    }
    Bounded *end = stack_.data();
    for (const TypedStep &typed : steps_) {
        Bounded *first = end - typed.count;
        is_exact_ ? take_exactly(typed, operands, first) : take(typed, operands, first);
        end = first + 1;
    }
    return end[-1];
}

// In f32 step by step, as kernels compute what they round to integers. Only what IEEE 754 leaves open is an error.
void BoundedExpression::take_exactly(const TypedStep &typed, const std::vector<Bounded> &operands, Bounded *first) {
    const scalar::Step &step = *typed.step;
    if (step.function == Function::operand) {
        *first = operands[step.operand];
        return;
    }
    if (step.function == Function::constant) {
        *first = {rounded(step.type, step.number), 0, true};
        if (is_wide(step.type)) take_wide(typed, first);
        return;
    }
    const bool is_exact = is_defined_exactly(step.function) &&
                          std::all_of(first, first + typed.count, [](const Bounded &a) { return a.error == 0; });
    take(typed, operands, first);
    const bool is_unknown = std::isinf(first->error) && std::isfinite(first->value);  // an integer of no number
    if (is_exact && !is_unknown) first->error = 0;
    if (typed.result == Element::f32) first->value = static_cast<float>(first->value);
}

void BoundedExpression::take_wide(const TypedStep &typed, Bounded *first) {
    const scalar::Step &step = *typed.step;
    const Element from = typed.argument, to = typed.result;
    int64_t *wide = wide_.data() + (first - stack_.data());
    const Bounded a = first[0], b = typed.count > 1 ? first[1] : a;
    const bool is_given = a.is_given && b.is_given;
    if (step.function == Function::constant) {
        wide[0] = wide_of(to, step.number);
        *first = {number_of(to, wide[0]), 0, true};
    } else if (step.function == Function::cast && !is_wide(to)) {
        if (to == Element::boolean) {
            *first = {double(wide[0] != 0), a.error, a.is_given};
        } else if (is_integer(to)) {
            *first = {narrowed(to, wide[0]), a.error, a.is_given};
        } else {
            *first = converted(a, from, to);
        }
    } else if (step.function == Function::cast) {
        if (!is_wide(from)) {
            if (!is_integer(from)) *first = converted(a, from, to);
            wide[0] = is_integer(from) ? static_cast<int64_t>(a.value) : wide_of(to, first->value);
        }
        first->value = number_of(to, wide[0]);
    } else if (step.function == Function::select) {
        *first = selected(first[0], first[1], first[2]);
        wide[0] = a.value != 0 ? wide[1] : wide[2];
    } else if (to == Element::boolean) {
        const bool is_equal = wide[0] == wide[1], is_below = is_less(from, wide[0], wide[1]);
        const bool holds = step.function == Function::equal  ? is_equal
                           : step.function == Function::less ? is_below
                                                             : is_below || is_equal;
        *first = compared(holds, a, b);
    } else {
        wide[0] = typed.count == 1 ? of_wide(step.function, to, wide[0]) : of_wide(step.function, to, wide[0], wide[1]);
        *first = {number_of(to, wide[0]), typed.count == 1 ? a.error : error_of_integers(step.function, a, b),
                  is_given};
    }
}

void BoundedExpression::take(const TypedStep &typed, const std::vector<Bounded> &operands, Bounded *first) {
    const scalar::Step &step = *typed.step;
    if (step.function == Function::operand) {
        *first = operands[step.operand];
        return;
    }
    if (step.function == Function::constant) {
        *first = {step.number, is_integer(step.type) ? 0 : std::fabs(step.number), true};
        if (is_wide(step.type)) take_wide(typed, first);
        return;
    }
    if (is_wide(typed.result) || is_wide(typed.argument)) {
        take_wide(typed, first);
    } else if (step.function == Function::cast) {
        *first = converted(first[0], typed.argument, step.type);
    } else if (step.function == Function::select) {
        *first = selected(first[0], first[1], first[2]);
    } else if (typed.count == 1) {
        *first = bounded(step.function, typed.argument, first[0]);
    } else {
        // Conditions about integers are those about numbers.
        const Element type = typed.result == Element::boolean ? Element::f32 : typed.argument;
        *first = bounded(step.function, type, first[0], first[1]);
    }
    if (typed.result == Element::f32 && !is_normal_in_f32(first->value)) *first = within_f32(*first);
    if (typed.roundings > 0)
        *first = {rounded(typed.result, first->value), first->error + std::fabs(first->value) * typed.roundings};
}

}  // namespace kiln
