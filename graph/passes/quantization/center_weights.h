// Weights of integer sums that fit i8 once their zero points are taken from them become i8 without zero points: those of u8 with the zero
// point 128, or of seven bits, as calibrations for older CPUs make them. Kernels of i8 have more algorithms and larger steps.
#pragma once

#include "graph/graph.h"

namespace kiln::graph {

Graph center_weights(const Graph &graph);

}  // namespace kiln::graph
