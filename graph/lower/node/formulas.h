// Expressions written as formulas: + - * / and the functions that rules need.
//
// They are chosen so that no intermediate result overflows or cancels where the whole does not.
#pragma once

#include "graph/expression.h"

namespace kiln::graph {

inline Expression operator+(Expression a, Expression b) { return apply(Function::add, std::move(a), std::move(b)); }
inline Expression operator-(Expression a, Expression b) {
    return apply(Function::subtract, std::move(a), std::move(b));
}
inline Expression operator*(Expression a, Expression b) {
    return apply(Function::multiply, std::move(a), std::move(b));
}
inline Expression operator/(Expression a, Expression b) { return apply(Function::divide, std::move(a), std::move(b)); }
inline Expression operator-(Expression a) { return apply(Function::negate, std::move(a)); }

inline Expression least(Expression a, Expression b) { return apply(Function::minimum, std::move(a), std::move(b)); }
inline Expression greatest(Expression a, Expression b) { return apply(Function::maximum, std::move(a), std::move(b)); }
inline Expression less(Expression a, Expression b) { return apply(Function::less, std::move(a), std::move(b)); }
inline Expression equal(Expression a, Expression b) { return apply(Function::equal, std::move(a), std::move(b)); }
inline Expression select(Expression condition, Expression yes, Expression no) {
    return apply(Function::select, std::move(condition), std::move(yes), std::move(no));
}
inline Expression absolute(Expression x) { return apply(Function::absolute, std::move(x)); }
inline Expression exponential(Expression x) { return apply(Function::exponential, std::move(x)); }
inline Expression logarithm(Expression x) { return apply(Function::logarithm, std::move(x)); }
inline Expression square_root(Expression x) { return apply(Function::square_root, std::move(x)); }
inline Expression power(Expression x, Expression y) { return apply(Function::power, std::move(x), std::move(y)); }

// Numbers of the type that a formula computes in.
struct NumbersOf {
    Element type = Element::f32;
    Expression operator()(double number) const { return constant(number, type); }
};

// x, or another number where it is NaN.
inline Expression unless_nan(const Expression &x, Expression otherwise) {
    return select(apply(Function::is_nan, x), std::move(otherwise), x);
}

// log(1 + exp(x))
inline Expression softplus(const Expression &x, NumbersOf number) {
    return greatest(x, number(0)) + apply(Function::logarithm_1p, exponential(-absolute(x)));
}

}  // namespace kiln::graph
