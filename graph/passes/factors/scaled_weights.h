// Weights with a factor for each channel.
#pragma once

#include <functional>
#include <optional>

#include "graph/graph.h"

namespace kiln::graph {

// Weights O, I, ... times factor(o, i), each product rounded once. Nothing where a number would overflow, or lose digits
// because it becomes smaller than the smallest normal number.
std::optional<ConstantData> scaled_weights(const Value &weights,
                                           const std::function<double(int64_t o, int64_t i)> &factor);

// The sum over the elements of each output channel of weight * addend(o, i).
std::vector<double> sums_of_weights(const Value &weights, const std::function<double(int64_t o, int64_t i)> &addend);

}  // namespace kiln::graph
