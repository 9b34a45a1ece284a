// Scalar functions of expressions (workload/expression/expression.h) as Halide expressions.
#pragma once

#include <Halide.h>

#include <vector>

#include "workload/expression/expression.h"

namespace kiln {

// The expression of `operands`, which are f32. All functions run in vectors and are as accurate as f32 arithmetic, but for the
// conditions of their arguments. Precondition: type_of() accepts it, and nest_applies() its functions (catalog/operators/nest_algorithm.h).
Halide::Expr halide_expression(const scalar::Expression &expression, const std::vector<Halide::Expr> &operands);

}  // namespace kiln
