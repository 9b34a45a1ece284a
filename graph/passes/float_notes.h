// Why nodes of a quantized network compute with floats.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace kiln::graph {

struct FloatNote {
    std::vector<std::string> origins;  // of the model
    std::string_view why;
    bool operator==(const FloatNote &) const = default;
};

// For a graph before any pass: a note for each node that sums, averages or normalizes floats. None where nothing is quantized.
// Element-wise nodes and those that move elements have no note: they compute with what they are given.
std::vector<FloatNote> float_notes(const Graph &graph);

}  // namespace kiln::graph
