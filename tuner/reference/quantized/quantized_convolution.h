// The reference of quantized convolutions (workload/quantization/quantization.h), exact in integers.
#pragma once

#include <vector>

#include "tuner/reference/operands.h"
#include "workload/result.h"

namespace kiln {

// Results in canonical order. Errors: a value of an operand is out of its range (bad_input).
Result<std::vector<double>> quantized_convolution(const Workload &workload, const Operands &operands);

}  // namespace kiln
