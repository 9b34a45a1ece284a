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

#include <functional>

#include "rewrites/conv_shape.h"
#include "schedules/fold_knobs.h"
#include "schedules/space.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

// Zeros in front of the kernel along dimension d.
int64_t folded_front(const ConvShape &whole, const Blocks &blocks, int d);

// The convolution over blocks of pixels, which reads the input as it is and folds it in the kernel. Precondition: one
// group, no holes and dilations; blocks divide the strides.
ConvShape folded_shape(const ConvShape &whole, const Blocks &blocks);

// The same of an input that was folded before, in NHWC with all its padding: as many positions as outputs reach.
ConvShape prepared_shape(const ConvShape &whole, const Blocks &blocks);

// Every choice of blocks that divide the strides and are no larger than the input, the largest first. Blocks of one
// pixel alone are none.
std::vector<Blocks> possible_blocks(const ConvShape &whole);

// Why there are no blocks, where there are none.
Status folds(const Workload &workload, const ConvShape &whole);

// The spaces of every folded shape as one, with the blocks as knobs. `space_of` answers that of one.
Space folded_space(const Candidate &base, const ConvShape &whole, bool prepared,
                   const std::function<Space(const ConvShape &)> &space_of);

}  // namespace kiln
