// Orders in which nodes can be computed.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace kiln::graph {

// Takes, among the nodes that can be computed next, the one after which least is alive; the earlier one where two are equal.
std::vector<int> thrifty_order(const Graph &graph, const std::vector<int64_t> &bytes_of_values);

}  // namespace kiln::graph
