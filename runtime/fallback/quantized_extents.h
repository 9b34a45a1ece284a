// What descriptors of quantized convolutions must be, and the operands that they have beside others: the checks of
// workload/quantization/quantization.h for descriptors that a program makes at run time.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kernel_table.h"

namespace kiln {

// Whether dtypes and epilogue go together, quantized or not. Answers null, or a constant sentence.
const char *check_quantization(const kiln_descriptor &normalized);

// The step that makes i8 or u8 of a sum; 0 where there is none.
int32_t requantization_of(const kiln_descriptor &d);

// Whether no sum leaves i32. Precondition: quantized, valid sizes.
bool sums_fit(const kiln_descriptor &normalized);

// Sets the forms of the operands that say how numbers are quantized. Precondition: quantized and valid.
void quantization_operands(const kiln_descriptor &normalized, OperandShape (&operands)[tensor_operands]);

}  // namespace kiln
