// Convolutions as workloads. Everything else of a network is a nest (network/node_nests.h).
#pragma once

#include "graph/operator.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln::graph {

// An error is the reason why it is none, a few words.
Result<Workload> convolution_workload(const Convolution &op, const TypedShape &x, const TypedShape &weights);

}  // namespace kiln::graph
