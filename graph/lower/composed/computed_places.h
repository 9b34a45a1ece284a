// GatherElements and GatherND by indices that are computed when the network runs: one gather along the elements of the input, or along
// its blocks, row by row. Negative indices count from the end; those that are outside of an axis take 0.
#pragma once

#include <cstdint>

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// The elements of x whose place along `axis` `indices` has; along the other axes it is that of the index itself. Both have the same
// number of axes.
ValueId elements_along(NodeLowering &node, ValueId x, int axis, ValueId indices);

// The blocks of x that rows of `indices` lead to, along the axes behind the first `batch`, which both have.
ValueId blocks_at(NodeLowering &node, ValueId x, int64_t batch, ValueId indices);

}  // namespace kiln::graph
