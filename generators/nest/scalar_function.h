// Scalar functions of expressions (workload/expression/expression.h) as Halide expressions.
#pragma once

#include <Halide.h>

#include <utility>
#include <vector>

#include "workload/expression/expression.h"

namespace kiln {

// Minima and maxima of f32 where an argument is NaN, though no operand may be: what is fastest, or NaN where it is the first
// argument that is no constant. On x86 that takes no more time.
enum class Extremes { fastest, keep_nan };

struct FunctionValue {
    Halide::Expr expr;
    bool may_be_nan = false;  // of finite operands: a root or a logarithm of a negative number

    FunctionValue(Halide::Expr value, bool nan = false) : expr(std::move(value)), may_be_nan(nan) {}
};

// The function of `operands`, which are f32, i32, i8 or u8. Precondition: type_of() accepts it.
FunctionValue function_value(const scalar::Expression &expression, const std::vector<FunctionValue> &operands,
                             Extremes extremes = Extremes::fastest);
Halide::Expr halide_expression(const scalar::Expression &expression, const std::vector<Halide::Expr> &operands);

}  // namespace kiln
