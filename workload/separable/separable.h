// A depthwise separable convolution, `depthwise` in a workload: a depthwise convolution, and one of 1x1 that reads its result.
//   mid[n, p, c] = sum over r of depthwise_kernel[r, 0, c] * xe[n, p * stride + r * rhs_dilation, c]
//   y[n, p, o]   = epilogue(sum over c of kernel[0, c, o] * prologue(mid[n, p, c]))
// Strides, padding and rhs_dilation are those of the first. (L. Sifre, "Rigid-motion scattering for image classification", 2014;
// F. Chollet, "Xception: deep learning with depthwise separable convolutions", 2017.)
#pragma once

#include "workload/workload.h"

namespace kiln {

// The two convolutions, each a workload of its own. What lies between is f32 and channels-last. Precondition: `depthwise` is not
// empty.
Workload depthwise_part(const Workload &w);
Workload pointwise_part(const Workload &w);

}  // namespace kiln
