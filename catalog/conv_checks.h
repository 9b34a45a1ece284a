// What all algorithms of convolutions ask of a workload.
#pragma once

#include <initializer_list>

#include "rewrites/conv_loops.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

// Every algorithm of floating point asks this of a convolution first: one of these operations, a dtype that it computes, a
// result that is not empty, and indices of 32 bits.
Status convolution_applies(const Workload &w, std::initializer_list<Operation> operations);

// The last two of these.
Status result_can_be_computed(const Workload &w);

// Whether every index of the tensors and of the padded, dilated input stays below 2^31: kernels index with 32 bits.
Status fits_32_bits(const Workload &w);

// Whether what kernels allocate on their own stays below that too: a copy of the input with its padding and holes, sums
// before they are scattered, packed weights.
Status copies_fit(const ConvLoops &loops);

}  // namespace kiln
