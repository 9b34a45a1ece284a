// Where the algorithms of convolutions and their gradients apply, and their spaces: rows of the catalog.
#pragma once

#include <string_view>

#include "schedules/space.h"
#include "workload/core.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// The definition, for forward convolutions and gradients of the input.
Status direct_applies(std::string_view name, const Workload &w, const Target &target);

// A depthwise convolution and one of 1x1 behind it.
Status separable_applies(std::string_view name, const Workload &w, const Target &target);

// The phases of a convolution with lhs_dilation, or of the gradient of the input of one with strides.
Status phases_applies(std::string_view name, const Workload &w, const Target &target);

// The phases of the input of a convolution with rhs_dilation.
Status input_phases_applies(std::string_view name, const Workload &w, const Target &target);

// The space of sums over the loops that the catalog has for an algorithm (catalog/conv_rewrites.h).
Space sum_space(const Candidate &base, const Workload &w, const Target &target, const Core &core);

// The gradient of the kernel.
Status kernel_gradient_applies(std::string_view name, const Workload &w, const Target &target);
Space kernel_gradient_space(const Candidate &base, const Workload &w, const Target &target, const Core &core);

}  // namespace kiln
