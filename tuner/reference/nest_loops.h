// Nests by plain loops in double.
#pragma once

#include <functional>
#include <vector>

#include "tuner/reference/convolution_loops.h"
#include "tuner/reference/tensor.h"
#include "workload/workload.h"

namespace kiln {

// The result in row-major order, and for each element a first-order bound of its rounding error in units of one rounding: what
// each function passes on of its arguments' errors, plus a rounding of its own (Higham, Accuracy and Stability of
// Numerical Algorithms, section 3.3, running error analysis).
Sums compute_nest(const Workload &workload, const Operands &operands);

}  // namespace kiln
