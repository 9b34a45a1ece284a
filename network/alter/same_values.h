// Whether two networks compute the same.
#pragma once

#include "graph/graph.h"
#include "workload/result.h"

namespace kiln::network {

// By plain loops, on inputs drawn at random; sums may be in another order. The networks have the same inputs and outputs. An error (bad
// input) names the output that differs. A network too large for that, or with a type whose values say nothing, is an error, too.
Status check_same_values(const graph::Graph &before, const graph::Graph &after);

}  // namespace kiln::network
