// The values of operands that say how numbers are quantized: the ranges of workload/quantization/quantization.h for calls,
// whose operands nobody has checked before.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kiln.h"

namespace kiln {

inline bool is_quantized_dtype(int32_t dtype) { return dtype == KILN_I8 || dtype == KILN_U8; }
inline bool is_quantized(const kiln_descriptor &d) { return d.operation == KILN_CONV && is_quantized_dtype(d.dtype); }

// The largest absolute value of a sum of products, and of a bias beside it.
int64_t largest_product_sum(const kiln_descriptor &quantized);
int64_t largest_bias(const kiln_descriptor &quantized);

// Whether all values of an operand (KILN_BIAS, ...) at `data` are in their range. Operands of other workloads, and those that
// may have any value, are. Precondition: normalized, and of a valid workload.
bool values_hold(const kiln_descriptor &workload, int operand, const void *data);

}  // namespace kiln
