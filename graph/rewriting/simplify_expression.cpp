#include "graph/rewriting/simplify_expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "graph/evaluate/evaluate.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

using enum Function;
using TermRule = std::optional<Term> (*)(const Term &);  // what a term becomes, or nothing

const Term &first(const Term &t) { return t.arguments[0]; }
const Term &second(const Term &t) { return t.arguments[1]; }

// A constant that is no worse than those it is made of: finite, and not so small that it lost digits.
std::optional<Term> normal(double number, Element type) {
    Term term = number_term(number, type);
    const double rounded = term.step.number;
    if (!std::isfinite(rounded) || std::abs(rounded) < smallest_normal(type)) return std::nullopt;
    return term;
}

std::optional<Term> constants(const Term &t) {
    if (t.arguments.empty() || !std::ranges::all_of(t.arguments, [](const Term &a) { return is_number(a); })) return {};
    const auto result = evaluate(Operator(Elementwise{to_expression(t), {}}), {});
    if (!result) return {};
    double number = 0;
    if (const auto *floats = std::get_if<std::vector<double>>(&result->elements)) {
        number = floats->front();
    } else {
        const int64_t integer = std::get<std::vector<int64_t>>(result->elements).front();
        number = static_cast<double>(integer);
        if (std::abs(number) > 0x1p53) return {};
    }
    if (std::isnan(number)) return {};
    return number_term(number, t.type);
}

std::optional<Term> order_of_arguments(const Term &t) {
    if (!is_commutative(t.step.function) || !stands_before(second(t), first(t))) return {};
    return call(t.step.function, {second(t), first(t)});
}

std::optional<Term> of_add(const Term &t) {
    if (!is(t, add)) return {};
    const Term &a = first(t), &b = second(t);
    if (is_number(b, 0)) return a;
    if (!is_float(t.type)) return {};
    if (is(b, negate)) return call(subtract, {a, first(b)});
    if (is(a, negate) && !is_number(b)) return call(subtract, {b, first(a)});
    if (is_number(b) && is(a, add) && is_number(second(a))) {
        const double inner = second(a).step.number, outer = b.step.number, sum = inner + outer;
        if (std::abs(sum) < std::max(std::abs(inner), std::abs(outer)) / 2) return {};
        if (auto number = normal(sum, t.type)) return call(add, {first(a), *number});
    }
    return {};
}

std::optional<Term> of_subtract(const Term &t) {
    if (!is(t, subtract)) return {};
    const Term &a = first(t), &b = second(t);
    if (is_number(b, 0)) return a;
    if (!is_float(t.type)) return {};
    if (is_number(b)) return call(add, {a, number_term(-b.step.number, t.type)});
    if (is_number(a, 0)) return call(negate, {b});
    if (is(b, negate)) return call(add, {a, first(b)});
    return {};
}

std::optional<Term> of_multiply(const Term &t) {
    if (!is(t, multiply)) return {};
    const Term &a = first(t), &b = second(t);
    if (is_number(b, 1)) return a;
    if (!is_float(t.type)) return {};
    if (is_number(b, -1)) return call(negate, {a});
    if (is_number(b) && is(a, negate)) return call(multiply, {first(a), number_term(-b.step.number, t.type)});
    if (is_number(b) && is(a, multiply) && is_number(second(a))) {
        auto number = normal(second(a).step.number * b.step.number, t.type);
        if (number) return call(multiply, {first(a), *number});
    }
    if (is(a, negate) && is(b, negate)) return call(multiply, {first(a), first(b)});
    if (is(b, reciprocal)) return call(divide, {a, first(b)});
    if (is(a, reciprocal) && !is_number(b)) return call(divide, {b, first(a)});
    if (a == b) return call(power, {a, number_term(2, t.type)});
    for (const auto &[x, squared] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        if (is(*squared, power) && is_number(second(*squared), 2) && first(*squared) == *x) {
            return call(power, {*x, number_term(3, t.type)});
        }
    }
    return {};
}

// Of a power of two, so that a product with it is the quotient. With any other number 41 / 41 may be less than 1, which is a whole step
// where the result is rounded down, compared or cut off, here or in a node behind.
std::optional<Term> exact_reciprocal(const Term &number) {
    int exponent = 0;
    if (!is_number(number) || std::abs(std::frexp(number.step.number, &exponent)) != 0.5) return {};
    return normal(1 / number.step.number, number.type);
}

std::optional<Term> of_divide(const Term &t) {
    if (!is(t, divide)) return {};
    const Term &a = first(t), &b = second(t);
    if (is_number(b, 1)) return a;
    if (!is_float(t.type)) return {};
    if (is_number(a, 1)) return call(reciprocal, {b});
    if (is(b, reciprocal)) return call(multiply, {a, first(b)});
    if (const auto number = exact_reciprocal(b)) return call(multiply, {a, *number});
    return {};
}

std::optional<Term> of_negate(const Term &t) {
    if (!is(t, negate) || !is_float(t.type)) return {};
    const Term &a = first(t);
    if (is(a, negate)) return first(a);
    if (is(a, subtract)) return call(subtract, {second(a), first(a)});
    if (is(a, multiply) && is_number(second(a))) {
        return call(multiply, {first(a), number_term(-second(a).step.number, t.type)});
    }
    return {};
}

std::optional<Term> of_power(const Term &t) {
    if (!is(t, power) || !is_float(t.type) || !is_number(second(t))) return {};
    const Term &a = first(t);
    const double exponent = second(t).step.number;
    if (exponent == 1) return a;
    if (exponent == 0.5) return call(square_root, {a});
    if (exponent == -1) return call(reciprocal, {a});
    if (exponent == -0.5) return call(reciprocal, {call(square_root, {a})});
    return {};
}

// An infinite one. The largest finite number bounds infinities.
bool is_no_bound(const Term &number, Function function) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return is_number(number, function == maximum ? -infinity : infinity);
}

// A clamp is min(max(x, lo), hi) with lo <= hi.
std::optional<Term> of_bounds(const Term &t) {
    if (!is(t, minimum) && !is(t, maximum)) return {};
    const Term &a = first(t), &b = second(t);
    if (a == b || is_no_bound(b, t.step.function)) return a;
    if (!is_number(b)) return {};
    if (a.step.function == t.step.function && is_number(second(a))) {
        const double inner = second(a).step.number, outer = b.step.number;
        const double number = is(t, minimum) ? std::min(inner, outer) : std::max(inner, outer);
        return call(t.step.function, {first(a), number_term(number, t.type)});
    }
    if (is(t, maximum) && is(a, minimum) && is_number(second(a)) && b.step.number <= second(a).step.number) {
        return call(minimum, {call(maximum, {first(a), b}), second(a)});
    }
    return {};
}

std::optional<Term> of_absolute(const Term &t) {
    if (!is(t, absolute)) return {};
    const Term &a = first(t);
    if (is(a, absolute)) return a;
    if (is(a, negate) && is_float(t.type)) return call(absolute, {first(a)});
    return {};
}

std::optional<Term> of_logic(const Term &t) {
    if (is(t, logical_not) && is(first(t), logical_not)) return first(first(t));
    if (is(t, cast) && first(t).type == t.type) return first(t);
    if (!is(t, select)) return {};
    const Term &condition = first(t), &yes = second(t), &no = t.arguments[2];
    if (yes == no) return yes;
    if (is_number(condition)) return condition.step.number != 0 ? yes : no;
    if (is(condition, logical_not)) return call(select, {first(condition), no, yes});
    return {};
}

// -x without a negation, where x has one.
std::optional<Term> negated(const Term &x) {
    if (is(x, negate)) return first(x);
    if (is(x, multiply) && is_number(second(x)) && second(x).step.number < 0) {
        return simplify(call(multiply, {first(x), number_term(-second(x).step.number, x.type)}));
    }
    return {};
}

// a / (1 + exp(-x))
std::optional<Term> of_sigmoid(const Term &t) {
    if (!is(t, reciprocal) && !is(t, divide)) return {};
    const Term &sum = t.arguments.back();
    if (!is(sum, add) || !is_number(second(sum), 1) || !is(first(sum), exponential)) return {};
    const auto x = negated(first(first(sum)));
    if (!x) return {};
    Term result = call(sigmoid, {*x});
    return is(t, reciprocal) ? result : call(multiply, {first(t), result});
}

// x where it is not below 0, else slope * x.
Term leaky(const Term &x, const Term &slope) {
    return call(select, {call(less, {x, number_term(0, x.type)}), call(multiply, {x, slope}), x});
}

// The factor beside `x` in a product of two.
std::optional<Term> factor_beside(const Term &x, const Term &product) {
    if (!is(product, multiply)) return {};
    if (first(product) == x) return second(product);
    if (second(product) == x) return first(product);
    return {};
}

// max(x, s * x) with 0 < s < 1; max(x, 0) + s * min(x, 0); max(x, 0) - s * max(-x, 0).
std::optional<Term> of_leaky_relu(const Term &t) {
    if (t.arguments.size() != 2 || !is_float(t.type)) return {};
    for (const auto &[a, b] : {std::pair(&first(t), &second(t)), std::pair(&second(t), &first(t))}) {
        if (is(t, maximum)) {
            const auto slope = factor_beside(*a, *b);
            if (slope && is_number(*slope) && slope->step.number > 0 && slope->step.number < 1) {
                return leaky(*a, *slope);
            }
            continue;
        }
        if (!is(*a, maximum) || !is_number(second(*a), 0)) continue;
        const Term &x = first(*a), zero = number_term(0, t.type);
        if (is(t, add)) {
            if (const auto slope = factor_beside(call(minimum, {x, zero}), *b)) return leaky(x, *slope);
        }
        if (is(t, subtract) && a == &first(t)) {
            const Term below = simplify(call(maximum, {call(negate, {x}), zero}));
            if (const auto slope = factor_beside(below, *b)) return leaky(x, *slope);
        }
    }
    return {};
}

// x + 0, x - 0, x * 1, x / 1.
std::optional<Term> of_neutral(const Term &t) {
    if (t.arguments.size() != 2) return {};
    const bool is_sum = is(t, add) || is(t, subtract), is_product = is(t, multiply) || is(t, divide);
    if ((is_sum && is_number(second(t), 0)) || (is_product && is_number(second(t), 1))) return first(t);
    return {};
}

// Whether all values of a term of floats are whole numbers.
bool is_whole(const Term &t) {
    switch (t.step.function) {
        case constant:
            return t.step.number == std::trunc(t.step.number);
        case round:
        case floor:
        case ceil:
            return true;
        case add:
        case subtract:
        case negate:
        case minimum:
        case maximum:
            return std::ranges::all_of(t.arguments, is_whole);
        default:
            return false;
    }
}

// Whether a term of f32 is a whole number from `lo` to `hi` at most.
bool is_whole_within(const Term &t, double lo, double hi) {
    if (t.type != Element::f32 || !is(t, minimum) || !is(first(t), maximum)) return false;
    const Term &least = second(first(t)), &most = second(t);
    const bool is_within =
        is_number(least, std::max(lo, least.step.number)) && is_number(most, std::min(hi, most.step.number));
    return is_within && is_whole(t);
}

Term converted(const Term &t, Element type) { return {{.function = cast, .type = type}, type, {t}}; }

// A quantum of which another one is computed need not be stored: i32(q(y)) is i32(y), f32(q(y)) is y, and f32(i32(y) - z) is y - z, where y
// is a whole number that q has. Vectors of bytes take longer to make and to take apart than what is computed with them.
std::optional<Term> of_quantum(const Term &t) {
    if (!is(t, cast) || (t.type != Element::i32 && t.type != Element::f32)) return {};
    const Term &from = first(t);
    if (is(from, cast) && holds_quanta(from.type)) {
        const QuantumRange range = range_of_quanta(from.type);
        const Term &number = first(from);
        if (!is_whole_within(number, range.lo, range.hi)) return {};
        return t.type == Element::f32 ? number : converted(number, t.type);
    }
    if (t.type != Element::f32 || from.type != Element::i32) return {};
    constexpr double exact = 1 << 23;  // differences of two such numbers are f32
    const auto number = [](const Term &x) { return is(x, cast) && is_whole_within(first(x), -exact, exact); };
    if (number(from)) return first(from);
    if (!is(from, subtract) || !number(first(from)) || !is_number(second(from))) return {};
    const double point = second(from).step.number;
    if (std::abs(point) > exact) return {};
    return call(subtract, {first(first(from)), number_term(point, Element::f32)});
}

// Whether a float becomes a quantum. A change of the last place might decide which one.
bool is_quantum(const Term &t) { return is(t, cast) && holds_quanta(t.type) && is_float(first(t).type); }

// What a term is simplified for.
struct Context {
    Rounding rounding = Rounding::may_change;
    bool is_in_quantum = false;  // a part of what becomes a quantum, so that kernels compute it as it is defined
};

Term simplified(Term term, const Context &context) {
    const Context inside = is_quantum(term) ? Context{Rounding::stays, true} : context;
    for (Term &argument : term.arguments) argument = simplified(std::move(argument), inside);
    static constexpr std::array<TermRule, 13> rules{
        constants, order_of_arguments, of_add,      of_subtract, of_multiply, of_divide,    of_negate,
        of_power,  of_bounds,          of_absolute, of_logic,    of_sigmoid,  of_leaky_relu};
    static constexpr std::array<TermRule, 6> exact_rules{constants, order_of_arguments, of_neutral,
                                                         of_bounds, of_absolute,        of_logic};
    const auto apply_first = [&](const auto &all) -> std::optional<Term> {
        for (const TermRule rule : all) {
            if (auto becomes = rule(term)) return becomes;
        }
        return {};
    };
    auto becomes = context.rounding == Rounding::stays ? apply_first(exact_rules) : apply_first(rules);
    if (!becomes && context.is_in_quantum) becomes = of_quantum(term);
    return becomes ? simplified(std::move(*becomes), context) : term;
}

}  // namespace

Term simplify(Term term, Rounding rounding) { return simplified(std::move(term), {rounding, false}); }

}  // namespace kiln::graph
