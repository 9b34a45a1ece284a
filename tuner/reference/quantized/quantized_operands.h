// Operands of quantized convolutions: random ones that kernels are judged by, and the check of those that come from elsewhere.
#pragma once

#include <cstdint>

#include "tuner/reference/operands.h"
#include "workload/result.h"

namespace kiln {

// `ordinary`: numbers of the whole range of their dtypes with many of its ends, any input zero point, and multipliers or scales
// that spread results over the range of theirs, some of them powers of two, so that there are ties. `wide`: nearly all
// numbers at one end, so that sums are about as large as they get; biases, shifts, scales and bounds from all of their ranges.
Operands quantized_operands(const Workload &workload, Data data, uint64_t seed);

// Whether all values are in their ranges (workload/quantization/quantization.h). Errors: one is not, with the operand's name
// and the range (bad_input). Precondition: a quantized convolution, operands of its forms.
Status check_quantized_values(const Workload &workload, const Operands &operands);

}  // namespace kiln
