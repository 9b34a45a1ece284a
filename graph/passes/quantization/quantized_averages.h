// Averages of dequantized numbers: sums of the stored ones, whose weights are 1, divided by the taps that they count.
#pragma once

#include <optional>

#include "graph/rewriting/rewriting.h"

namespace kiln::graph {

// The same as an average pool, or a mean over all spatial axes, of dequantized numbers; nothing where the node is none.
std::optional<ValueId> quantized_average(Rewriting &graph, const Node &node);

}  // namespace kiln::graph
