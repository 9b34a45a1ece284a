// Decides in which order the axes of each value lie in memory.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "graph/memory/storage.h"

namespace kiln::network {

// A graph with the order of each value's axes in memory. A Transpose that permutes nothing, whose result lies otherwise than its
// input, moves a value from one order into another.
struct StoredGraph {
    graph::Graph graph;
    std::vector<graph::Storage> storages;  // by value
};

// Channels-last: convolutions read and write N, spatial..., C, and weights are spatial..., I, O. Nests take and keep the order
// that they find. A transpose is another order of the same bytes, and so is a reshape where there is one. Inputs
// and outputs of the network are row-major.
StoredGraph choose_layouts(const graph::Graph &graph);

}  // namespace kiln::network
