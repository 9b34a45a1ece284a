// In which orders of axes each node can be computed.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "graph/memory/storage.h"
#include "network/axis_order.h"

namespace kiln::network {

struct LayoutOption {
    std::vector<Order> inputs;  // by input of the node; empty: whatever order it lies in
    Order output;
    bool operator==(const LayoutOption &) const = default;
};

// By node, each with one option at least. Convolutions read and write channels-last or channels-first; the first of their
// options is channels-last throughout. What lies between them keeps an order that its input may have.
std::vector<std::vector<LayoutOption>> layout_options(const graph::Graph &graph);

// An input's or a result's elements in memory.
graph::Storage storage_of(const graph::TypedShape &form, const Order &order);

}  // namespace kiln::network
