// Nests by plain loops in double.
#pragma once

#include <functional>
#include <vector>

#include "tuner/reference/convolution_loops.h"
#include "tuner/reference/tensor.h"
#include "workload/workload.h"

namespace kiln {

// The result in row-major order, and for each element a bound of its rounding error in units of one rounding
// (bounded_expression.h).
Sums compute_nest(const Workload &workload, const Operands &operands);

}  // namespace kiln
