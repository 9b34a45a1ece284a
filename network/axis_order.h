// Orders of a value's axes in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/memory/storage.h"
#include "graph/shape.h"
#include "workload/workload.h"

namespace kiln::network {

using graph::Order;

Order row_major(size_t axes);
// N, spatial..., C of N, C, spatial...
Order channels_last(size_t axes);
// N, blocks of channels, spatial..., channels of a block: NCHW<block>c.
Order in_blocks(size_t axes, int64_t block);
// spatial..., I, O of O, I, spatial...: how weights lie for a convolution.
Order kernel_order(size_t axes);

// Whether both are the same places: axes of one element have none.
bool lie_alike(const Order &a, const Order &b, const graph::Shape &shape);

// Whether a value of this shape can lie so: blocks divide their axis.
bool fits(const Order &order, const graph::Shape &shape);

// What kiln's kernels call the order of an image: channels-last where that is the same, else in blocks, else channels-first.
ActivationLayout layout_of(const Order &order, const graph::Shape &shape);

// Orders the axes of `other`, a reshape of `shape`, as far as the digits of their indices allow: each goes where `order` has
// the axis of `shape` that its outermost digit belongs to. Precondition: no blocks.
Order reordered(const graph::Shape &shape, const Order &order, const graph::Shape &other);

// The order of a transpose's result: result axis i is input axis permutation[i], in the same place.
Order permuted(const Order &order, const std::vector<int> &permutation);

}  // namespace kiln::network
