// Steps of floats that Halide and LLVM would make others of: they take numbers for exact, and for finite ones. A strict step stays.
#pragma once

#include <Halide.h>

#include <optional>

#include "workload/expression/expression.h"

namespace kiln {

Halide::Expr strict(Halide::Internal::Call::IntrinsicOp function, const Halide::Expr &a, const Halide::Expr &b);

Halide::Expr sum_of(const Halide::Expr &a, const Halide::Expr &b);
Halide::Expr difference_of(const Halide::Expr &a, const Halide::Expr &b);
Halide::Expr product_of(const Halide::Expr &a, const Halide::Expr &b);
Halide::Expr quotient_of(const Halide::Expr &a, const Halide::Expr &b);

// Of integers and conditions, too.
Halide::Expr is_equal(const Halide::Expr &a, const Halide::Expr &b);
Halide::Expr is_less(const Halide::Expr &a, const Halide::Expr &b);
Halide::Expr is_at_most(const Halide::Expr &a, const Halide::Expr &b);

// A step of which one argument is as large as numbers get, or infinite; nothing where none is.
std::optional<Halide::Expr> with_extreme(scalar::Function function, Halide::Expr a, Halide::Expr b);

}  // namespace kiln
