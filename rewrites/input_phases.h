// Phases of the input: outputs of one residue modulo the dilation read inputs of one residue, and are convolutions
// without dilation of their own.
//
// Along one dimension, with g = gcd(stride, dilation) and P = dilation / g, output o = q * P + f reads for tap k
//   o * stride + k * dilation - pad = dilation * (q * stride / g + k) + f * stride - pad,
// so the convolution of phase f has stride stride / g, and its position u is position u * dilation + f * stride - pad of
// the input. Phases are further images: image ((n * P_z + z) * P_y + y) * P_x + x.
#pragma once

#include "rewrites/conv_loops.h"

namespace kiln {

// The same loops where there is no dilation. Precondition: no holes.
ConvLoops input_phases(ConvLoops loops);

// Windows of one tap with strides read the pixels of one phase only: the same convolution, without strides, of these. Output o reads
// position o * stride - pad, so that position o of that phase is position o * stride - pad of the input. Nothing changes in dimensions
// with several taps, with padding or with holes.
ConvLoops read_pixels(ConvLoops loops);

}  // namespace kiln
