// From a graph behind all passes to a program.
#pragma once

#include "graph/graph.h"
#include "network/program.h"
#include "workload/result.h"

namespace kiln::network {

// Convolutions, pools and what lies between them are channels-last in memory; inputs and outputs of the network are
// row-major. An error (unsupported) has a line for each node that no kernel computes.
Result<Program> emit(const graph::Graph &graph);

}  // namespace kiln::network
