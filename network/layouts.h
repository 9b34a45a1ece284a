// Decides in which order the axes of each value lie in memory.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "graph/memory/storage.h"
#include "network/layout_costs.h"
#include "network/program.h"

namespace kiln::network {

// A graph with the order of each value's axes in memory. A Transpose that permutes nothing, whose result lies otherwise than
// its input, moves a value from one order into another.
struct StoredGraph {
    graph::Graph graph;
    std::vector<graph::Storage> storages;  // by value
    LayoutSummary summary;
};

// The orders with which all nodes and moves together cost least. Convolutions read and write channels-last or channels-first,
// weights lie spatial..., I, O, and everything else keeps an order that it finds. A transpose is another order of the same
// bytes, and so is a reshape where there is one. Inputs and outputs of the network are row-major.
//
// A move counts for each of its readers, though they share it.
StoredGraph choose_layouts(const graph::Graph &graph, const LayoutPrices &prices);

// What the network costs in these orders, and each node with the moves of what it reads.
struct LayoutCost {
    double all_ns = 0;
    std::vector<double> node_ns;  // by node
};
LayoutCost cost_of_layouts(const graph::Graph &graph, const LayoutPrices &prices);

}  // namespace kiln::network
