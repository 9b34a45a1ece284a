// From a graph behind all passes to a program.
#pragma once

#include "graph/graph.h"
#include "network/layout_costs.h"
#include "network/program.h"
#include "workload/result.h"

namespace kiln::network {

// Orders of axes in memory are those that cost least (network/layouts.h). An error (unsupported) has a line for each node that
// no kernel computes.
Result<Program> emit(const graph::Graph &graph, const LayoutPrices &prices = {});

// The same in two programs. The first computes all that the second reads: outputs and inputs have the same names and forms, in
// the same order. `prices` say whether the first one's time counts (is_input_prepared).
struct SplitProgram {
    Program preparation, network;
};
Result<SplitProgram> emit_split(const graph::Graph &graph, const LayoutPrices &prices = {});

// The graph whose nodes are kernels, of which layouts are chosen.
graph::Graph prepared(const graph::Graph &graph);

}  // namespace kiln::network
