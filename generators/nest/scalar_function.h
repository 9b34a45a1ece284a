// Scalar functions of expressions (workload/expression/expression.h) as Halide expressions.
#pragma once

#include <Halide.h>

#include <vector>

#include "workload/expression/expression.h"

namespace kiln {

// The expression of `operands`, which are f32, i32, i8 or u8. Precondition: type_of() accepts it.
Halide::Expr halide_expression(const scalar::Expression &expression, const std::vector<Halide::Expr> &operands);

}  // namespace kiln
