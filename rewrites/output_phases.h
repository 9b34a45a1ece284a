// Phases of the output: outputs of one residue as a convolution of their own that meets no hole of the input.
//
// Along one dimension, output o = q * P + f with P = hole / gcd(stride, hole) needs the taps k with
//   f * stride + k * dilation = pad (mod hole)
// and of each the input q * (P * stride / hole) + (f * stride + k * dilation - pad) / hole. f runs from -origin to
// P - 1 - origin, with the origin for which the window of all phases together is smallest. Phases are further output
// channels: channel (z * P_y + y) * P_x + x of them, times the outputs of one, plus the channel. A tap that a phase does
// not have is a zero of its weights. Where a hole is wider than the kernel, phases have no tap at all: those before the first and behind
// the last that has one are no channels, and their outputs are sums of nothing.
#pragma once

#include "rewrites/conv_loops.h"

namespace kiln {

// The same loops where there is no hole.
ConvLoops output_phases(ConvLoops loops);

}  // namespace kiln
