// The layers of a network for `kiln tune --workloads`, and words for what is left out of them.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "workload/lists/workload_list.h"

namespace kiln {

struct NetworkLayers {
    std::vector<NamedWorkload> layers;  // distinct ones, with counts; names of the model's nodes, printable
    std::string note;                   // how many nodes they are, and what is none
};

NetworkLayers layers_of(const graph::Graph &graph);

}  // namespace kiln
