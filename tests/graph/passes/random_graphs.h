// Graphs drawn at random, of what networks are made of: convolutions with their batch normalizations and activations,
// transposes and reshapes around anything, spellings of functions, several readers of a value.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace kiln::graph {

struct GraphSizes {
    int nodes = 25;          // about
    int64_t elements = 400;  // of a value, about
};

Graph random_graph(uint64_t seed, GraphSizes sizes = {});

}  // namespace kiln::graph
