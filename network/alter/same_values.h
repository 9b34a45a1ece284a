// Whether two networks compute the same.
#pragma once

#include "graph/graph.h"
#include "network/alter/patch.h"
#include "workload/result.h"

namespace kiln::network {

// By plain loops, on inputs drawn at random; sums may be in another order. `after` is the network with the patch in it. Only
// what the patch replaces is computed, from what it reads; where that differs, all is computed, since what it reads need not be
// independent. An error (bad input) names the value that differs, or says why nothing could be computed.
Status check_same_values(const graph::Graph &before, const Patch &patch, const graph::Graph &after);

}  // namespace kiln::network
