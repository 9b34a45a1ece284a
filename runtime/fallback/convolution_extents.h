// Whether a descriptor is a convolution, and the sizes that follow from it: the checks of workload/workload_checks.cpp
// for descriptors that a program makes at run time, where nobody has checked them before.
//
// Part of what ships with kernels: no C++ library. That is why the extents of the output are derived here and in
// workload/workload.cpp.
#pragma once

#include "runtime/kernel_table.h"

namespace kiln {

struct ConvolutionExtents {
    int64_t groups = 1;                           // feature or batch groups
    int64_t batch = 1;                            // of the output, and of one batch group of the input
    int64_t group_inputs = 1, group_outputs = 1;  // channels of one group
    int64_t output[KILN_MAX_SPATIAL_RANK] = {};   // 0: an empty tensor
};

// Answers null, or a constant sentence that names the field which is wrong. After null every extent, every offset in
// bytes and every position of a tap fits int64_t. Precondition: normalized, and one of the three convolutions.
const char *convolution_extents(const kiln_descriptor &normalized, ConvolutionExtents *extents);

// The form that the operands of a call must have, in the order of KILN_INPUT ... Precondition: convolution_extents().
void convolution_operands(const kiln_descriptor &normalized, const ConvolutionExtents &extents,
                          OperandShape (&operands)[tensor_operands]);

}  // namespace kiln
