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

// Loops of stride and dilation 1 that compute the same, for algorithms that know no other: dilations become phases of the
// input (rewrites/input_phases.h), strides blocks of pixels, and where a dimension has one tap a stride is a step. Blocks
// count from the first position that an output reads, so what fills up the kernel always lies behind its end:
//   x'[u, i] = x[s u + i - pad_lo], k'[R, i] = k[s R + i]
// Only the last tap R of the last pixels i lacks weights. Precondition: one group, no holes.
ConvLoops unit_strides(const ConvLoops &loops);

// Along a dimension, the pixels of a block, and those of them whose last tap has weights: the first ones.
struct FoldedPixels {
    int64_t all = 1, to_last_tap = 1;

    bool operator==(const FoldedPixels &) const = default;
};
// Precondition: loops of unit_strides().
FoldedPixels folded_pixels(const ConvLoops &loops, int d);

// Every choice of blocks that divide the strides and are no larger than the input, the largest first. Blocks of one
// pixel alone are none.
std::vector<Blocks> possible_blocks(const ConvShape &shape);

// Why there are no blocks, where there are none.
Status folds(const Workload &workload, const ConvShape &shape);

}  // namespace kiln
