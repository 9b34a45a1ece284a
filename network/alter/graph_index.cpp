#include "network/alter/graph_index.h"

#include <cstddef>

namespace kiln::network {

using namespace graph;

GraphIndex::GraphIndex(const Graph &graph)
    : graph_(&graph),
      producers_(graph.values.size(), -1),
      readers_(graph.values.size()),
      is_output_(graph.values.size()) {
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        const Node &node = graph.nodes[i];
        producers_[node.output] = static_cast<int>(i);
        for (const ValueId id : node.inputs) {
            if (readers_[id].empty() || readers_[id].back() != &node) readers_[id].push_back(&node);
        }
    }
    for (const Output &output : graph.outputs) is_output_[output.value] = true;
}

const Node *GraphIndex::producer(ValueId id) const {
    return producers_[id] < 0 ? nullptr : &graph_->nodes[producers_[id]];
}

}  // namespace kiln::network
