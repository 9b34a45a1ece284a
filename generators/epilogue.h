// What happens to a sum before it is stored: the steps of the workload, in its order. One interface for every algorithm:
// they hand over the sum and where it goes, and know nothing of the steps.
#pragma once

#include <Halide.h>

#include <map>

#include "workload/workload.h"

namespace kiln {

// The values that belong to an output element, of each step that has an operand.
using EpilogueOperands = std::map<EpilogueStep::Kind, Halide::Expr>;

// With special_values exact a sum that is a NaN stays one.
Halide::Expr apply_epilogue(const Workload &workload, Halide::Expr sum, const EpilogueOperands &operands);

// The value as it is stored: rounded to nearest even; with special_values exact a NaN stays one.
Halide::Expr convert_result(const Workload &workload, const Halide::Type &type, const Halide::Expr &value);

}  // namespace kiln
