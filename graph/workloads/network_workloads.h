// A network's nodes as workloads: what can be tuned of it today. Activations are channels-last throughout.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "workload/workload.h"

namespace kiln::graph {

struct NodeWorkload {
    std::string name;  // of the model's node; several workloads may have one name
    Workload workload;
};

struct NetworkWorkloads {
    std::vector<NodeWorkload> nodes;    // in the graph's order
    std::map<std::string, int> others;  // nodes that are no workload: how many, by operator or reason
};

// Convolutions with their epilogues; matrix products, which are convolutions with a window of 1; DepthToSpace and SpaceToDepth.
// A Reshape needs no kernel and is not counted.
NetworkWorkloads workloads_of(const Graph &graph);

}  // namespace kiln::graph
