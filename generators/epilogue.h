// What happens to a sum before it is stored, and to an element of the input before it is multiplied: the steps of the workload, in
// its order. One interface for every algorithm: they hand over the number and what belongs to it, and know nothing of the steps.
#pragma once

#include <Halide.h>

#include <map>

#include "workload/workload.h"

namespace kiln {

// The values that belong to an element, of each step that has an operand.
using StepValues = std::map<EpilogueStep::Kind, Halide::Expr>;

// Steps of an epilogue or a prologue. With special_values exact a NaN stays one.
// With `apart` a first addition is rounded for itself (strict_float).
Halide::Expr apply_steps(const std::vector<EpilogueStep> &steps, SpecialValues special, Halide::Expr value,
                         const StepValues &operands, bool apart = false);

// The value as it is stored: rounded to nearest even; with special_values exact a NaN stays one.
Halide::Expr convert_result(const Workload &workload, const Halide::Type &type, const Halide::Expr &value);

}  // namespace kiln
