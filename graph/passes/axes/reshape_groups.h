// A reshape as groups of neighbouring axes: the elements of each group of the input become those of one group of the result.
// What an operator does along whole groups it can do before the reshape as well.
#pragma once

#include <optional>
#include <vector>

#include "graph/shape.h"

namespace kiln::graph {

struct ReshapeGroup {
    int from = 0, from_end = 0;  // axes of the input
    int to = 0, to_end = 0;      // axes of the result, with as many elements
};

// As many groups as there can be; nothing where an extent is 0. Axes at the end with one element may stand alone in a group.
std::optional<std::vector<ReshapeGroup>> reshape_groups(const Shape &from, const Shape &to);

// The axes of the input that hold the same elements as these axes of the result, without those of one element. Nothing where
// an axis is only a part of what a group has.
std::optional<std::vector<int>> axes_before(const Shape &from, const Shape &to, const std::vector<int> &axes);

// The shape in front of the reshape of an operand that is broadcast to `to`.
std::optional<Shape> operand_before(const Shape &from, const Shape &to, const Shape &operand);

}  // namespace kiln::graph
