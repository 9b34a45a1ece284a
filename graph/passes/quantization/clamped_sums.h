// What becomes of integer sums until they are quantized: a multiple with a number added, for each channel, within bounds.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "graph/rewriting/value_terms.h"

namespace kiln::graph {

struct ClampedSums {
    std::vector<double> scale, shift;  // by channel: number = scale * sum + shift
    double lo = -std::numeric_limits<double>::infinity(), hi = std::numeric_limits<double>::infinity();
};

// A term of the values `sums`, i32 of N, C, spatial..., as that; nothing where it is anything else.
std::optional<ClampedSums> clamped_sums(const Rewriting &graph, const Term &term, ValueId sums);

}  // namespace kiln::graph
