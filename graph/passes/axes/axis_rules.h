// The rules of move_axes: each says what takes the place of a node, or nothing where it does not apply.
#pragma once

#include <optional>

#include "graph/rewriting/rewriting.h"

namespace kiln::graph {

// Nodes that only change axes: neighbours become one, and those that change nothing go. A transpose that moves nothing is a
// reshape, a transpose stands in front of reshapes that only add or remove axes of one element, behind all others.
std::optional<ValueId> join_axis_changes(Rewriting &graph, const Node &node);

// A reshape behind the node instead of in front of it. It costs nothing in either place, but it separates those that could
// vanish or be fused.
std::optional<ValueId> sink_reshape(Rewriting &graph, const Node &node);

// A transpose behind the node instead of in front of it. With `sole_uses` only where that moves no more elements: the transpose
// has no other users and the result is no larger.
std::optional<ValueId> sink_transpose(Rewriting &graph, const Node &node, bool sole_uses);

}  // namespace kiln::graph
