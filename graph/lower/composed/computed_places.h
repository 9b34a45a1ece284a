// Places that are computed when the network runs, and what GatherElements and GatherND take from there: one gather along the elements of
// the input, or along its blocks, row by row. Negative indices count from the end; those that are outside of an axis take 0.
#pragma once

#include <cstdint>

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// Refuses indices along an axis of a value of such a shape that have more places along another one. Both have the same number of axes.
void check_other_axes(const NodeLowering &node, const Shape &shape, int axis, ValueId indices);

// Indices along an axis of `extent` elements, counted from 0 on as i32; -1 where they are outside.
ValueId places_inside(NodeLowering &node, ValueId indices, int64_t extent);

// Which block of a value of such a shape each row of `indices` leads to, row by row as i32; -1 where it leads outside. Rows go along the
// axes behind the first `batch`, which both have.
ValueId block_places(NodeLowering &node, const Shape &shape, int64_t batch, ValueId indices);

// The elements of x whose place along `axis` `indices` has; along the other axes it is that of the index itself. Both have the same
// number of axes.
ValueId elements_along(NodeLowering &node, ValueId x, int axis, ValueId indices);

// The blocks of x that rows of `indices` lead to, as above.
ValueId blocks_at(NodeLowering &node, ValueId x, int64_t batch, ValueId indices);

}  // namespace kiln::graph
