// Where the algorithms of convolutions and their gradients apply, and their spaces: what the catalog says of them.
#pragma once

#include <initializer_list>

#include "workload/machine.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"
#include "rewrites/conv_loops.h"
#include "schedules/space.h"

namespace kiln {

// Whether every index of the tensors and of the padded, dilated input stays below 2^31: kernels index with 32 bits.
Status fits_32_bits(const Workload &w);

// Whether what kernels allocate on their own stays below that too: a copy of the input with its padding and holes, sums
// before they are scattered, packed weights.
Status copies_fit(const ConvLoops &shape);

// What every algorithm asks of a convolution first: one of these operations, dtypes, a result, 32-bit indices.
Status convolution_applies(const Workload &w, std::initializer_list<Operation> operations);

// The definition, for forward convolutions and gradients of the input.
Status direct_applies(const Workload &w, const Target &target);
Space direct_space(const Workload &w, const Target &target, const Machine &machine);

// The phases of a convolution with lhs_dilation, or of the gradient of the input of one with strides.
Status phases_applies(const Workload &w, const Target &target);
Space phases_space(const Workload &w, const Target &target, const Machine &machine);

// The phases of the input of a convolution with rhs_dilation.
Status input_phases_applies(const Workload &w, const Target &target);
Space input_phases_space(const Workload &w, const Target &target, const Machine &machine);

// The gradient of the kernel.
Status kernel_gradient_applies(const Workload &w, const Target &target);
Space kernel_gradient_space(const Workload &w, const Target &target, const Machine &machine);

}  // namespace kiln
