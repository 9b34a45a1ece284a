// In which orders of axes each node can be computed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/memory/storage.h"
#include "network/axis_order.h"

namespace kiln::network {

struct LayoutOption {
    std::vector<std::optional<Order>> inputs;  // by input of the node; none: whatever order it lies in
    Order output;
    bool operator==(const LayoutOption &) const = default;
};

// The orders in which a convolution may read or write an image of this shape: channels-last first, then channels-first, then
// blocks of `block` channels (0: none) where they divide the channels.
std::vector<Order> image_orders(const graph::TypedShape &image, int64_t block);

// By node, each with one option at least. Convolutions read and write image_orders(); the first of their options is
// channels-last throughout. What lies between them keeps an order that its input may have.
std::vector<std::vector<LayoutOption>> layout_options(const graph::Graph &graph, int64_t block);

// An input's or a result's elements in memory.
graph::Storage storage_of(const graph::TypedShape &form, const Order &order);

}  // namespace kiln::network
