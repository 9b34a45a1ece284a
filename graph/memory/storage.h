// How values lie in memory, and where the result of an operator consists of the bytes of its inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kiln::graph {

// A dense value. Axes of one element have no place in memory, so they may stand anywhere.
struct Storage {
    int64_t bytes = 0;
    std::vector<int>
        order;  // axes, the outermost in memory first; empty for a value with axes: blocked, nothing can be said
    bool operator==(const Storage &) const = default;
};

// By value: axes in their logical order.
std::vector<Storage> row_major_storages(const Graph &graph);

// Values with their storages.
struct Stored {
    const TypedShape *form = nullptr;
    const Storage *storage = nullptr;
};

// Whether the result of a Reshape or Transpose has the same bytes in the same places.
bool keeps_bytes(const Operator &op, const Stored &input, const Stored &result);

// Where in the bytes of its input the result of a Resample lies that takes out one contiguous part.
std::optional<int64_t> offset_of_part(const Operator &op, const Stored &input, const Stored &result);

// Whether a Concat's result is the bytes of its inputs, one after the other.
bool joins_bytes(const Operator &op, const std::vector<Stored> &inputs, const Stored &result);

// Whether each element of an Elementwise's result lies where the element of this input does that it is computed from.
bool is_elementwise_alike(const Operator &op, const Stored &input, const Stored &result);

}  // namespace kiln::graph
