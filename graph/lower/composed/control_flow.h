// Graphs in attributes of nodes. What a network computes is fixed before it runs, so numbers of repetitions must be known then, and
// so are conditions that ask for a shape or for an input that is constant.
#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// If: the branch that its condition chooses takes the node's place. Where the condition is computed from more than a few numbers, both
// branches do, which must have outputs of the same forms. One that follows from a few is a setting, and must be known.
void branch(NodeLowering &node);

// Loop: its body, once for each repetition. Values that are carried from one to the next may change their shapes.
void loop(NodeLowering &node);

// Scan: its body, once for each element of its scan inputs along their axes. All of them have equally many.
void scan(NodeLowering &node);

}  // namespace kiln::graph
