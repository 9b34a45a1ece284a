// Which numbers a value may have, as far as that follows from the nodes before it.
#pragma once

#include <optional>
#include <vector>

#include "graph/rewriting/rewriting.h"

namespace kiln::graph {

// A NaN aside, which integers do not have.
struct ValueRange {
    double lo = 0, hi = 0;
    bool operator==(const ValueRange &) const = default;
};

// The results of an element-wise node that reads these values. Nothing where that is unknown, as for floats that are inputs.
std::optional<ValueRange> range_of(const Rewriting &graph, const scalar::Expression &expression,
                                   const std::vector<ValueId> &inputs);

// The results of a node.
std::optional<ValueRange> range_of(const Rewriting &graph, const Node &node);

}  // namespace kiln::graph
