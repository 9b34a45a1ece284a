// How values lie in memory, and where the result of an operator consists of the bytes of its inputs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kiln::graph {

// In which order the axes of a dense value lie in memory, the outermost first. Axes of one element have no place in memory, so
// they may stand anywhere.
struct Order {
    std::vector<int> axes = {};  // each once; an axis in blocks twice, and the second time it is the last
    int64_t block = 0;           // elements of a block, which divides the axis; 0: no axis is in blocks
    auto operator<=>(const Order &) const = default;
};

// A loop through memory: `extent` times `step` elements of an axis.
struct MemoryLoop {
    int axis = 0;
    int64_t extent = 1, step = 1;
    bool operator==(const MemoryLoop &) const = default;
};

// The outermost first, one for each entry of the order.
std::vector<MemoryLoop> memory_loops(const Shape &shape, const Order &order);

// The same without loops of one element, and with neighbours of one axis as one loop: two orders that have the same are the
// same places.
std::vector<MemoryLoop> wide_loops(const Shape &shape, const Order &order);

struct Storage {
    int64_t bytes = 0;
    Order order = {};
    bool operator==(const Storage &) const = default;
};

Order row_major_order(size_t axes);

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

// Whether a node may write its result over input number `index`: each element of the result lies where the one element of this input
// does that it is computed from. `first` is the node's first input.
bool may_write_over(const Node &node, size_t index, const Stored &first, const Stored &input, const Stored &result);

}  // namespace kiln::graph
