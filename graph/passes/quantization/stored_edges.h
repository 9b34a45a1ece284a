// Inputs and outputs of a quantized network as stored numbers: what quantizes an input first, and what dequantizes an output last,
// is left to the caller. For cores without floating point, where it would be the only thing that needs any.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/passes/quantization/quantized_values.h"

namespace kiln::graph {

struct StoredEdges {
    Graph graph;
    // By input and output: by which numbers the caller quantizes or dequantizes; nothing where that stays as the model has it.
    std::vector<std::optional<UniformQuantization>> inputs, outputs;
};

// Of a graph as it was imported, before any pass. An input keeps its floats where something reads them that does not quantize, or
// where two nodes quantize them differently.
StoredEdges stored_edges(const Graph &graph);

}  // namespace kiln::graph
