// A function of one or two stored numbers of 8 bits, all of whose results are known: what can be tried on each of them is proved.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/rewriting/rewriting.h"

namespace kiln::graph {

inline constexpr int stored_values = 256;  // of an operand of i8 or u8

struct StoredFunction {
    std::vector<ValueId> inputs;   // one or two of i8 or u8
    std::vector<int64_t> results;  // of all values from the smallest on, those of the last input in a row
};

// What an Elementwise computes, where each of its other inputs is a constant of one element and its result is i8 or u8.
std::optional<StoredFunction> stored_function(const Rewriting &graph, const Node &node);

struct StoredTable {
    ValueId input = 0;  // i8 or u8
    Numbers results;    // of one axis, of all values from the smallest on
};

// The same of one such input, with results that kernels store: f32, i32, i8 or u8.
std::optional<StoredTable> table_of(const Rewriting &graph, const Node &node);

}  // namespace kiln::graph
