// What happens to a sum before it is stored: bias, add, relu, clamp, in the workload's order. One interface for every
// algorithm: they hand over the sum and where it goes, and know nothing of the steps.
#pragma once

#include <Halide.h>

#include "workload/workload.h"

namespace kiln {

// `bias` and `addend` are the values that belong to this output element; undefined where the workload has no such step.
// relu(x) is x < 0 ? 0 : x, so with special_values exact a NaN stays one; clamp likewise.
Halide::Expr apply_epilogue(const Workload &workload, Halide::Expr sum, const Halide::Expr &bias,
                            const Halide::Expr &addend);

// The value as it is stored: rounded to nearest even; with special_values exact a NaN stays one.
Halide::Expr convert_result(const Workload &workload, const Halide::Type &type, const Halide::Expr &value);

}  // namespace kiln
