// Arithmetic of integers inside of expressions, and conversions from and to them. Integers wrap around, and nothing traps.
#pragma once

#include <Halide.h>

#include "workload/expression/expression.h"

namespace kiln {

// Floats are cut off, and saturate; NaN becomes 0. Values that are f16 or bf16 are f32 which are rounded to these.
Halide::Expr converted(const Halide::Expr &value, scalar::Element type);

// The value of arithmetic on one or two integers. Powers are exact up to 2^53.
Halide::Expr integer_function(scalar::Function function, const Halide::Expr &a);
Halide::Expr integer_function(scalar::Function function, const Halide::Expr &a, const Halide::Expr &b);

}  // namespace kiln
