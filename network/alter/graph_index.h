// What computes each value of a graph, and who reads it.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace kiln::network {

class GraphIndex {
public:
    explicit GraphIndex(const graph::Graph &graph);

    const graph::Graph &graph() const { return *graph_; }
    const graph::Value &value(graph::ValueId id) const { return graph_->values[id]; }
    const graph::Shape &shape(graph::ValueId id) const { return value(id).form.shape; }
    bool is_constant(graph::ValueId id) const { return value(id).constant.has_value(); }

    const graph::Node *producer(graph::ValueId id) const;  // null for inputs and constants
    template<typename Op>
    const Op *computed_by(graph::ValueId id) const {
        const graph::Node *node = producer(id);
        return node ? std::get_if<Op>(&node->op) : nullptr;
    }

    // Nodes in their order; one that reads it twice stands there once.
    const std::vector<const graph::Node *> &readers(graph::ValueId id) const { return readers_[id]; }
    bool is_output(graph::ValueId id) const { return is_output_[id]; }
    // Whether this node alone reads the value, and it is no output of the graph.
    bool is_read_by_one(graph::ValueId id) const { return readers_[id].size() == 1 && !is_output_[id]; }

private:
    const graph::Graph *graph_;  // outlives it
    std::vector<int> producers_;
    std::vector<std::vector<const graph::Node *>> readers_;
    std::vector<bool> is_output_;
};

}  // namespace kiln::network
