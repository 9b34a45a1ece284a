// A network in two: what an input pipeline can do while it loads the inputs, and the rest.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "network/layouts.h"

namespace kiln::network {

// By node: whether it depends on inputs and adds up nothing, and neither does anything that it reads: pads, moves, casts,
// normalizations by constants and other element-wise work. A node whose result is an output of the network is none.
std::vector<bool> nodes_at_input(const graph::Graph &graph);

// The outputs of `preparation` are the inputs of `network`, with the same names, in the same order and stored alike.
// An input that other nodes read as it is passes through under its name.
struct InputSplit {
    StoredGraph preparation, network;
};
InputSplit split_at_input(const StoredGraph &whole);

}  // namespace kiln::network
