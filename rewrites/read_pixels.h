// Windows of one tap with strides read some pixels of the input only: the same convolution, without strides, of these.
//
// Along a dimension whose kernel is 1, output o reads position o * stride - pad, so that position o of the pixels that are read is
// position o * stride - pad of the input.
#pragma once

#include "rewrites/conv_loops.h"

namespace kiln {

// The same loops in dimensions with several taps, with padding or with holes.
ConvLoops read_pixels(ConvLoops loops);

}  // namespace kiln
