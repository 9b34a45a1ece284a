#include "generators/nest/scalar_function.h"

#include <limits>

namespace kiln {
namespace {

using namespace Halide;
using scalar::Function;

Expr number(double value) { return Expr(static_cast<float>(value)); }

Expr polynomial(const Expr &x, const std::vector<double> &coefficients) {  // the highest power first
    Expr sum = number(coefficients.front());
    for (size_t i = 1; i < coefficients.size(); i++) sum = sum * x + number(coefficients[i]);
    return sum;
}

// 1 - 2 / (exp(2 |x|) + 1) with the sign of x; near 0, where that cancels, a polynomial (Cephes, tanhf).
Expr tangent_hyperbolic(const Expr &x) {
    const Expr size = abs(x), square = x * x;
    const Expr far = 1.0f - 2.0f / (exp(min(2.0f * size, 80.0f)) + 1.0f);
    const Expr near = x + x * square *
                              polynomial(square, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                                                  1.33314422036e-1, -3.33332819422e-1});
    return select(size < 0.625f, near, x < 0.0f, -far, far);
}

// Abramowitz and Stegun, 7.1.26, whose error is absolute; near 0 the Taylor series, 7.1.5.
Expr error_function(const Expr &x) {
    const Expr size = abs(x), square = x * x;
    const Expr t = 1.0f / (1.0f + 0.3275911f * size);
    const Expr p = t * polynomial(t, {1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592});
    const Expr far = 1.0f - p * exp(-min(square, 80.0f));
    const Expr near = x * polynomial(square, {1.2055332981789664e-4, -8.548327023450853e-4, 5.223977625442188e-3,
                                              -2.6866170645131252e-2, 1.1283791670955126e-1, -3.7612638903183754e-1,
                                              1.1283791670955126});
    return select(size < 0.5f, near, x < 0.0f, -far, far);
}

// Halide's logarithm of infinity is that of the largest number.
Expr logarithm(const Expr &x) { return select(x > 3.4e38f, x, log(x)); }

// log(u) x / (u - 1) with u = 1 + x, in which the rounding of u cancels (Higham, Accuracy and Stability of Numerical
// Algorithms, problem 1.5).
Expr logarithm_1p(const Expr &x) {
    const Expr u = strict_float(1.0f + x), rest = strict_float(u - 1.0f);
    return select(rest == 0.0f, x, u > 1e30f, logarithm(u), log(u) * x / rest);
}

// exp(y log |x|); a negative x has a power where y is whole, with its sign where y is odd.
Expr power(const Expr &x, const Expr &y) {
    const Expr size = exp(y * logarithm(abs(x)));
    const Expr is_whole = floor(y) == y, is_odd = floor(y * 0.5f) * 2.0f != y;
    const Expr nan = number(std::numeric_limits<double>::quiet_NaN());
    const Expr of_negative = select(!is_whole, nan, is_odd, -size, size);
    const Expr of_zero = select(y < 0.0f, number(std::numeric_limits<double>::infinity()), 0.0f);
    return select(y == 0.0f, 1.0f, x == 0.0f, of_zero, x < 0.0f, of_negative, size);
}

// A power by a small whole number is a product.
Expr power_of(const Expr &x, double exponent) {
    if (exponent == 2) return x * x;
    if (exponent == 3) return x * x * x;
    if (exponent == 0.5) return sqrt(x);
    if (exponent == -1) return 1.0f / x;
    return power(x, number(exponent));
}

Expr boolean(const Expr &value) { return value.type().is_bool() ? value : value != 0; }

Expr converted(const Expr &value, scalar::Element type) {
    if (type == scalar::Element::boolean) return boolean(value);
    return cast<float>(value);
}

Expr of_one(Function function, const Expr &x) {
    switch (function) {
        case Function::absolute:
            return abs(x);
        case Function::negate:
            return -x;
        case Function::sign:
            return select(x > 0.0f, 1.0f, x < 0.0f, -1.0f, 0.0f);
        case Function::reciprocal:
            return 1.0f / x;
        case Function::square_root:
            return sqrt(x);
        case Function::exponential:
            return exp(x);
        case Function::logarithm:
            return logarithm(x);
        case Function::logarithm_1p:
            return logarithm_1p(x);
        case Function::tangent_hyperbolic:
            return tangent_hyperbolic(x);
        case Function::error_function:
            return error_function(x);
        case Function::sigmoid:
            return 1.0f / (1.0f + exp(-x));
        case Function::floor:
            return floor(x);
        case Function::ceil:
            return ceil(x);
        case Function::round:
            return round(x);
        default:
            return !x;  // logical_not
    }
}

Expr of_two(Function function, const Expr &a, const Expr &b) {
    switch (function) {
        case Function::add:
            return a + b;
        case Function::subtract:
            return a - b;
        case Function::multiply:
            return a * b;
        case Function::divide:
            return a / b;
        case Function::power:
            return power(a, b);
        case Function::minimum:
            return min(a, b);
        case Function::maximum:
            return max(a, b);
        case Function::equal:
            return a == b;
        case Function::less:
            return a < b;
        case Function::less_or_equal:
            return a <= b;
        case Function::logical_and:
            return a && b;
        case Function::logical_or:
            return a || b;
        default:
            return a != b;  // logical_xor
    }
}

}  // namespace

Expr halide_expression(const scalar::Expression &expression, const std::vector<Expr> &operands) {
    std::vector<Expr> stack;
    std::vector<const scalar::Step *> made_by;  // the step of each value on the stack
    for (const scalar::Step &step : expression.steps) {
        const size_t count = static_cast<size_t>(scalar::argument_count(step.function));
        const std::vector<Expr> a(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end());
        const scalar::Step *last = made_by.empty() ? nullptr : made_by.back();
        stack.resize(stack.size() - count), made_by.resize(stack.size());
        made_by.push_back(&step);
        if (step.function == Function::operand) {
            stack.push_back(operands[step.operand]);
        } else if (step.function == Function::constant) {
            stack.push_back(step.type == scalar::Element::boolean ? Expr(step.number != 0) : number(step.number));
        } else if (step.function == Function::cast) {
            stack.push_back(converted(a[0], step.type));
        } else if (step.function == Function::power && last->function == Function::constant) {
            stack.push_back(power_of(a[0], last->number));
        } else if (count == 3) {
            stack.push_back(select(a[0], a[1], a[2]));
        } else {
            stack.push_back(count == 1 ? of_one(step.function, a[0]) : of_two(step.function, a[0], a[1]));
        }
    }
    return stack.back();
}

}  // namespace kiln
