// The loops of the reference: a convolution or one of its gradients on canonical operands, in double.
//
// All three are the same sum over (batch, output position, tap, channels) of input x kernel x output; they differ in
// which of the three is the result. What stride, padding and dilations mean is stated once, as the pairs of an input
// and an output position that a tap connects.
#pragma once

#include <vector>

#include "workload/workload.h"

namespace kiln {

struct Sums {
    std::vector<double> sum;
    std::vector<double> magnitude;  // the same sum over absolute values
};

// Operands as in `Operands`, in canonical order: activations N, spatial, C; kernels spatial, Ci, Co. So is the result.
// Precondition: a valid convolution workload.
Sums convolve(const Workload &workload, const std::vector<double> &first, const std::vector<double> &second);

}  // namespace kiln
