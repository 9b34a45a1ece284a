// The space-to-depth rewrite: a convolution with strides as one over blocks of pixels, with fewer positions, smaller
// strides and more channels.
//
// Along one dimension, with a block b that divides the stride s, and f zeros in front of the kernel so that b divides
// pad_lo + f:
//   y[p] = sum over r of k[r] x[p s + r - pad_lo]
//        = sum over R, i of k'[R, i] x'[p (s/b) + R - (pad_lo + f)/b, i],
//   x'[u, i] = x[b u + i], k'[R, i] = k[b R + i - f], 0 beyond either's end.
// All dimensions together make channel ((i_z b_y + i_y) b_x + i_x) C + c. So padding, the kernel's odd size and an
// image that blocks do not divide are all taken care of by zeros (the README of many a TPU model; "Automatic Space to
// Depth Transform in MLIR Bridge").
#pragma once

#include <array>
#include <vector>

#include "rewrites/conv_loops.h"
#include "workload/result.h"

namespace kiln {

using Blocks = std::array<int64_t, 3>;  // in the order of ConvShape: width, height, depth

// The convolution over blocks of pixels, which reads the input as it is and folds it in the kernel. Precondition: one
// group, no holes and dilations; blocks divide the strides.
ConvLoops folded(const ConvLoops &loops, const Blocks &blocks);

// The same of an input that was folded before, in NHWC with all its padding: as many positions as outputs reach.
ConvLoops prepared(const ConvLoops &loops, const Blocks &blocks);

// Where the elements of that input (indices: input_index) lie in the input as it was.
ElementMap preparation(const ConvLoops &loops, const Blocks &blocks);

// Every choice of blocks that divide the strides and are no larger than the input, the largest first. Blocks of one
// pixel alone are none.
std::vector<Blocks> possible_blocks(const ConvShape &shape);

// Why there are no blocks, where there are none.
Status folds(const Workload &workload, const ConvShape &shape);

}  // namespace kiln
