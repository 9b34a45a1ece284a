// Scalar functions of expressions (workload/expression/expression.h) as Halide expressions.
#pragma once

#include <Halide.h>

#include <utility>
#include <vector>

#include "workload/expression/expression.h"

namespace kiln {

struct FunctionValue {
    Halide::Expr expr;
    bool may_be_nan = false;  // of finite operands: a root or a logarithm of a negative number

    FunctionValue(Halide::Expr value, bool nan = false) : expr(std::move(value)), may_be_nan(nan) {}
};

// The function of `operands`, which are f32, i32, i8 or u8. Precondition: type_of() accepts it.
FunctionValue function_value(const scalar::Expression &expression, const std::vector<FunctionValue> &operands);
Halide::Expr halide_expression(const scalar::Expression &expression, const std::vector<Halide::Expr> &operands);

}  // namespace kiln
