#include "generators/nest/scalar_function.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "generators/nest/float_functions.h"
#include "generators/nest/integer_functions.h"
#include "generators/nest/strict_functions.h"

namespace kiln {
namespace {

using namespace Halide;
using scalar::Element;
using scalar::Function;

constexpr double no_bound = std::numeric_limits<double>::infinity();

// A value on the stack; f16 and bf16 are f32 here, and rounded after each step.
struct Value {
    Expr expr;
    Element type = Element::f32;
    const scalar::Step *made_by = nullptr;
    double lo = -no_bound,
           hi = no_bound;     // of f32: minima and maxima that it has passed, where NaN has become one of them
    Expr before_rounding;     // of f32 that is rounded
    bool may_be_nan = false;  // of finite operands: a root or a logarithm of a negative number
};

Expr constant(const scalar::Step &step) {
    if (step.type == Element::boolean) return Internal::make_bool(step.number != 0);  // Expr(bool) is an int
    if (step.type == Element::f64) return Expr(step.number);
    if (scalar::is_float(step.type)) return converted(Expr(static_cast<float>(step.number)), step.type);
    return converted(Expr(static_cast<int64_t>(step.number)), step.type);
}

// Those that libm has are computed in f64; the others are as exact as in f32.
Expr of_wide(Function function, const Expr &x) {
    const auto in_f32 = [&](const auto &f) { return cast<double>(f(cast<float>(x))); };
    switch (function) {
        case Function::exponential:
            return exp(x);
        case Function::logarithm:
            return log(x);
        case Function::tangent_hyperbolic:
            return tanh(x);
        case Function::sine:
            return sin(x);
        case Function::cosine:
            return cos(x);
        case Function::sigmoid:
            return Expr(1.0) / (Expr(1.0) + exp(-x));
        case Function::logarithm_1p:
            return in_f32(logarithm_1p);
        case Function::error_function:
            return in_f32(error_function);
        case Function::is_nan:
            return is_nan(x);
        default:
            return is_inf(x);
    }
}

Expr of_f32(Function function, const Expr &x) {
    switch (function) {
        case Function::exponential:
            return exponential(x);
        case Function::logarithm:
            return logarithm(x);
        case Function::logarithm_1p:
            return logarithm_1p(x);
        case Function::tangent_hyperbolic:
            return tangent_hyperbolic(x);
        case Function::error_function:
            return error_function(x);
        case Function::sigmoid:
            return sigmoid(x);
        case Function::sine:
            return sine(x);
        case Function::cosine:
            return cosine(x);
        case Function::is_nan:
            return is_not_a_number(x);
        default:
            return is_infinity(x);
    }
}

Expr of_one(Function function, const Expr &x) {
    if (x.type().is_bool()) return !x;
    if (!x.type().is_float()) return integer_function(function, x);
    const Expr zero = cast(x.type(), 0), one = cast(x.type(), 1);
    switch (function) {
        case Function::absolute:
            return abs(x);
        case Function::negate:
            return -x;
        case Function::sign:
            return select(x > zero, one, x < zero, -one, x);
        case Function::reciprocal:
            return one / x;
        case Function::square_root:
            return x.type() == Float(32) ? square_root(x) : sqrt(x);
        case Function::floor:
            return x.type().bits() == 64 ? floor(x) : whole(x, floor(x));
        case Function::ceil:
            return x.type().bits() == 64 ? ceil(x) : whole(x, ceil(x));
        case Function::round:
            return x.type().bits() == 64 ? round(x) : whole(x, round(x));
        default:
            return x.type().bits() == 64 ? of_wide(function, x) : of_f32(function, x);
    }
}

Expr arithmetic(Function function, const Expr &a, const Expr &b) {
    if (!a.type().is_float()) return integer_function(function, a, b);
    if (auto result = with_extreme(function, a, b)) return *std::move(result);
    switch (function) {
        case Function::add:
            return sum_of(a, b);
        case Function::subtract:
            return difference_of(a, b);
        case Function::multiply:
            return product_of(a, b);
        case Function::divide:
            return quotient_of(a, b);
        case Function::remainder:
            return a.type().bits() == 64 ? a % b : remainder(a, b);
        case Function::power:
            return a.type().bits() == 64 ? pow(a, b) : power(a, b);
        case Function::minimum:
            return min(a, b);
        default:
            return max(a, b);
    }
}

Expr of_two(Function function, const Expr &a, const Expr &b) {
    switch (function) {
        case Function::equal:
            return is_equal(a, b);
        case Function::less:
            return is_less(a, b);
        case Function::less_or_equal:
            return is_at_most(a, b);
        case Function::logical_and:
            return a && b;
        case Function::logical_or:
            return a || b;
        case Function::logical_xor:
            return a != b;
        default:
            return arithmetic(function, a, b);
    }
}

Element element_of(const Type &type) {
    if (type == Int(32)) return Element::i32;
    if (type == Int(8)) return Element::i8;
    return type == UInt(8) ? Element::u8 : Element::f32;
}

bool answers_boolean(Function function) {
    return function == Function::is_nan || function == Function::is_infinite || function == Function::equal ||
           function == Function::less || function == Function::less_or_equal;
}

// Numbers of f32 within the range of 8 bits, to even: adding 1.5 * 2^23 leaves the nearest integer in the low bits. That is one
// step on every target, and nothing saturates.
Expr nearest_quantum(const Expr &x, const Type &type) {
    return cast(type, reinterpret<int32_t>(x + Expr(12582912.0f)));
}

bool is_within(const Value &value, const Type &type) {
    const double lo = type.is_uint() ? 0 : -128, hi = type.is_uint() ? 255 : 127;
    return value.lo >= lo && value.hi <= hi;
}

bool is_narrow(Element type) { return type == Element::f16 || type == Element::bf16; }

// Without conversions in hardware Halide rounds a NaN up to an infinity.
Expr rounded(const Expr &value, Element type, bool may_be_nan) {
    const Expr result = converted(value, type);
    return may_be_nan && is_narrow(type) && value.type() == Float(32) ? select(is_not_a_number(value), value, result)
                                                                      : result;
}

Value cast_value(const Value &value, const scalar::Step &step) {
    const bool is_small = step.type == Element::i8 || step.type == Element::u8;
    const Type type = step.type == Element::i8 ? Int(8) : UInt(8);
    if (is_small && value.before_rounding.defined() && is_within(value, type))
        return {nearest_quantum(value.before_rounding, type), step.type, &step};
    Value result{rounded(value.expr, step.type, value.may_be_nan), step.type, &step};
    result.may_be_nan = value.may_be_nan && scalar::is_float(step.type);
    return result;
}

bool is_zero(const Value &value) {
    return value.made_by->function == Function::constant && value.type == Element::f32 && value.made_by->number == 0;
}

Expr bits_of_zero(const Value &value) { return Expr(uint32_t(std::signbit(value.made_by->number)) << 31); }

// Halide and LLVM take -0 for 0, so that a choice between both is none. They choose between bits.
Expr chosen(const Expr &condition, const Value &yes, const Value &no) {
    if (!is_zero(yes) || !is_zero(no)) return select(condition, yes.expr, no.expr);
    return reinterpret<float>(select(condition, bits_of_zero(yes), bits_of_zero(no)));
}

Value selected(const scalar::Step &step, const std::vector<Value> &a) {
    Value result{chosen(a[0].expr, a[1], a[2]), a[1].type, &step};
    result.may_be_nan = a[1].may_be_nan || a[2].may_be_nan;
    return result;
}

bool is_constant(const Value &value) { return value.made_by->function == Function::constant; }

bool makes_nan(Function function) {
    return function == Function::square_root || function == Function::logarithm || function == Function::logarithm_1p ||
           function == Function::power;
}

// max(a, b) = a > b ? a : b is one instruction of x86, which answers b where one of them is NaN. Where the comparison is not strict, Halide
// and LLVM may take the arguments in the other order.
Expr extreme_that_keeps(const Expr &kept, const Expr &other, Function function) {
    return strict(function == Function::minimum ? Internal::Call::strict_min : Internal::Call::strict_max, other, kept);
}

// Minima and maxima of the CPU may answer the other argument where one is NaN. So what may be NaN is asked.
Expr extreme(Function function, const Value &a, const Value &b, Extremes extremes) {
    const bool keeps = extremes == Extremes::keep_nan && a.expr.type() == Float(32);
    const Value &kept = is_constant(a) ? b : a, &other = is_constant(a) ? a : b;
    Expr result = keeps ? extreme_that_keeps(kept.expr, other.expr, function) : arithmetic(function, a.expr, b.expr);
    for (const Value *value : {&b, &a}) {
        if (!value->may_be_nan) continue;
        const Expr &x = value->expr;
        result = select(x.type().bits() == 64 ? is_nan(x) : is_not_a_number(x), x, result);
    }
    return result;
}

void bound(Function function, const std::vector<Value> &a, Value *value) {
    if (value->type != Element::f32 || value->may_be_nan) return;
    if (function == Function::minimum) value->lo = std::min(a[0].lo, a[1].lo), value->hi = std::min(a[0].hi, a[1].hi);
    if (function == Function::maximum) value->lo = std::max(a[0].lo, a[1].lo), value->hi = std::max(a[0].hi, a[1].hi);
    if (function != Function::round) return;
    value->lo = std::nearbyint(a[0].lo), value->hi = std::nearbyint(a[0].hi);
    value->before_rounding = a[0].expr;
}

Value called(const scalar::Step &step, const std::vector<Value> &a, Extremes extremes) {
    if (step.function == Function::cast) return cast_value(a[0], step);
    if (step.function == Function::select) return selected(step, a);
    if (answers_boolean(step.function)) {
        const Expr answer =
            a.size() == 1 ? of_one(step.function, a[0].expr) : of_two(step.function, a[0].expr, a[1].expr);
        return {answer, Element::boolean, &step};
    }
    const bool is_by_constant = step.function == Function::power && is_constant(a[1]);
    Expr value;
    if (is_by_constant && scalar::is_float(a[0].type) && a[0].type != Element::f64) {
        value = power(a[0].expr, a[1].made_by->number);
    } else if (step.function == Function::minimum || step.function == Function::maximum) {
        value = extreme(step.function, a[0], a[1], extremes);
    } else {
        value = a.size() == 1 ? of_one(step.function, a[0].expr) : of_two(step.function, a[0].expr, a[1].expr);
    }
    const bool may_be_nan = scalar::is_float(a[0].type) &&
                            (makes_nan(step.function) || std::any_of(a.begin(), a.end(), [](const Value &argument) {
                                 return argument.may_be_nan;
                             }));
    Value result{is_narrow(a[0].type) ? rounded(value, a[0].type, may_be_nan) : value, a[0].type, &step};
    result.may_be_nan = may_be_nan;
    bound(step.function, a, &result);
    return result;
}

// Counts an expression as a tree, in which what is used twice counts twice, as far as a limit.
class TreeCount : public Internal::IRMutator {
public:
    explicit TreeCount(int most) : most_(most) {}

    using Internal::IRMutator::mutate;
    Expr mutate(const Expr &e) override { return ++count_ > most_ ? e : Internal::IRMutator::mutate(e); }
    bool is_beyond() const { return count_ > most_; }

private:
    int most_, count_ = 0;
};

// Halide's passes walk trees. Most functions use their argument several times, so that those of functions of functions grow without
// end: 4 GB for a softplus that is quantized and quantized again. Small ones stay as they are, for Halide knows patterns in them.
Expr in_reach(const Expr &expression) {
    constexpr int most = 4000;
    TreeCount count(most);
    count.mutate(expression);
    return count.is_beyond() ? Internal::common_subexpression_elimination(expression) : expression;
}

}  // namespace

FunctionValue function_value(const scalar::Expression &expression, const std::vector<FunctionValue> &operands,
                             Extremes extremes) {
    std::vector<Value> stack;
    for (const scalar::Step &step : expression.steps) {
        if (step.function == Function::operand) {
            const FunctionValue &value = operands[step.operand];
            stack.push_back({value.expr, element_of(value.expr.type()), &step});
            stack.back().may_be_nan = value.may_be_nan;
        } else if (step.function == Function::constant) {
            stack.push_back({constant(step), step.type, &step});
            if (!std::isnan(step.number)) stack.back().lo = stack.back().hi = step.number;
        } else {
            const std::ptrdiff_t count = scalar::argument_count(step.function);
            const std::vector<Value> arguments(stack.end() - count, stack.end());
            stack.resize(stack.size() - count);
            stack.push_back(called(step, arguments, extremes));
        }
    }
    return {in_reach(stack.back().expr), stack.back().may_be_nan};
}

Expr halide_expression(const scalar::Expression &expression, const std::vector<Expr> &operands) {
    return function_value(expression, {operands.begin(), operands.end()}).expr;
}

}  // namespace kiln
