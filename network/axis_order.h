// Orders of a value's axes in memory.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/shape.h"

namespace kiln::network {

using Order = std::vector<int>;  // axes, the outermost in memory first

Order row_major(size_t axes);
// N, spatial..., C of N, C, spatial...
Order channels_last(size_t axes);
// spatial..., I, O of O, I, spatial...: how weights lie for a convolution.
Order kernel_order(size_t axes);

// Whether both are the same places: axes of one element have none.
bool lie_alike(const Order &a, const Order &b, const graph::Shape &shape);

// Orders the axes of `other`, a reshape of `shape`, as far as the digits of their indices allow: each goes where `order` has
// the axis of `shape` that its outermost digit belongs to.
Order reordered(const graph::Shape &shape, const Order &order, const graph::Shape &other);

// The order of a transpose's result: result axis i is input axis permutation[i], in the same place.
Order permuted(const Order &order, const std::vector<int> &permutation);

}  // namespace kiln::network
