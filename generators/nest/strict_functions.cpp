#include "generators/nest/strict_functions.h"

#include <cmath>
#include <utility>

#include "generators/nest/float_functions.h"

namespace kiln {

using namespace Halide;
using scalar::Element;
using scalar::Function;

Expr strict(Internal::Call::IntrinsicOp function, const Expr &a, const Expr &b) {
    return Internal::Call::make(a.type(), function, {a, b}, Internal::Call::PureIntrinsic);
}

namespace {

bool is_product(const Expr &x) { return x.as<Internal::Mul>() != nullptr; }

// A sum or difference of floats. With a product in it, it is left to become one instruction (FMA).
bool is_sum(const Expr &x) {
    if (const auto *sum = x.as<Internal::Add>()) return !is_product(sum->a) && !is_product(sum->b);
    if (const auto *difference = x.as<Internal::Sub>()) return !is_product(difference->a) && !is_product(difference->b);
    const auto *call = x.as<Internal::Call>();
    return call && (call->is_intrinsic(Internal::Call::strict_add) || call->is_intrinsic(Internal::Call::strict_sub));
}

Expr strict_sum(const Expr &x) {
    if (!is_sum(x)) return x;  // with a product, or none
    if (const auto *sum = x.as<Internal::Add>()) return strict(Internal::Call::strict_add, sum->a, sum->b);
    if (const auto *difference = x.as<Internal::Sub>())
        return strict(Internal::Call::strict_sub, difference->a, difference->b);
    return x;
}

bool is_quotient_by(const Expr &x, const Expr &divisor) {
    const auto *quotient = x.as<Internal::Div>();
    return quotient && Internal::graph_equal(quotient->b, divisor);
}

bool is_product_with(const Expr &x, const Expr &factor) {
    const auto *product = x.as<Internal::Mul>();
    return product && (Internal::graph_equal(product->a, factor) || Internal::graph_equal(product->b, factor));
}

// Halide joins comparisons as if there were no NaN: x == x is true, and neither less nor greater is equal. Strict ones stay.
Expr compared(Internal::Call::IntrinsicOp comparison, const Expr &a, const Expr &b) {
    return Internal::Call::make(Bool(), comparison, {a, b}, Internal::Call::PureIntrinsic);
}

bool is_extreme(const Expr &x) {
    const std::optional<double> number = Internal::as_const_float(x);
    const Element type = x.type() == Float(64) ? Element::f64 : Element::f32;
    return number && std::fabs(*number) >= scalar::largest_finite(type);
}

}  // namespace

// Halide and LLVM take floats for exact and make a - (b + c) of (a - b) - c, in which c loses its digits where b is large and
// a - b is not. Both steps must be strict to stay as they are.
Expr sum_of(const Expr &a, const Expr &b) {
    return is_sum(a) || is_sum(b) ? strict(Internal::Call::strict_add, strict_sum(a), strict_sum(b)) : a + b;
}

// Nor may what Halide knows of numbers be said of infinities and NaN: that x - x is 0, x / x 1, and 0 * x 0.
Expr difference_of(const Expr &a, const Expr &b) {
    if (Internal::graph_equal(a, b)) return strict(Internal::Call::strict_sub, a, b);
    return is_sum(a) || is_sum(b) ? strict(Internal::Call::strict_sub, strict_sum(a), strict_sum(b)) : a - b;
}

Expr product_of(const Expr &a, const Expr &b) {
    if (is_quotient_by(a, b) || is_quotient_by(b, a)) return strict(Internal::Call::strict_mul, a, b);
    return Internal::is_const_zero(a) || Internal::is_const_zero(b) ? strict(Internal::Call::strict_mul, a, b) : a * b;
}

Expr quotient_of(const Expr &a, const Expr &b) {
    return Internal::graph_equal(a, b) || Internal::is_const_zero(a) || is_product_with(a, b)
               ? strict(Internal::Call::strict_div, a, b)
               : float_quotient(a, b);
}

Expr is_equal(const Expr &a, const Expr &b) {
    return a.type().is_float() ? compared(Internal::Call::strict_eq, a, b) : a == b;
}

Expr is_less(const Expr &a, const Expr &b) {
    return a.type().is_float() ? compared(Internal::Call::strict_lt, a, b) : a < b;
}

// Of a strict <= in vectors, too, Halide makes the contrary of b < a for x86, which holds where one of them is NaN.
Expr is_at_most(const Expr &a, const Expr &b) { return a.type().is_float() ? is_less(a, b) || is_equal(a, b) : a <= b; }

// LLVM takes it that no number is infinite: then the largest one is no bound, and a product with infinity may be anything. A strict
// step has no such freedom. The number comes first, so that a minimum or maximum with NaN is NaN.
std::optional<Expr> with_extreme(Function function, Expr a, Expr b) {
    if (!is_extreme(a) && !is_extreme(b)) return {};
    switch (function) {
        case Function::add:
            return strict(Internal::Call::strict_add, a, b);
        case Function::subtract:
            return strict(Internal::Call::strict_sub, a, b);
        case Function::multiply:
            return strict(Internal::Call::strict_mul, a, b);
        case Function::minimum:
        case Function::maximum:
            if (is_extreme(b)) std::swap(a, b);
            return strict(function == Function::minimum ? Internal::Call::strict_min : Internal::Call::strict_max, a,
                          b);
        default:
            return {};
    }
}

}  // namespace kiln
