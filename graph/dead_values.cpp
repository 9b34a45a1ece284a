#include <utility>
#include <vector>

#include "graph/graph.h"

namespace kiln::graph {

Graph without_dead_values(const Graph &graph) {
    std::vector<bool> is_needed(graph.values.size(), false);
    for (ValueId id : graph.inputs) is_needed[id] = true;
    for (const Output &output : graph.outputs) is_needed[output.value] = true;
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
        if (!is_needed[node->output]) continue;
        for (ValueId id : node->inputs) is_needed[id] = true;
    }

    Graph result;
    result.name = graph.name;
    std::vector<ValueId> id_of(graph.values.size(), -1);
    for (size_t id = 0; id < graph.values.size(); id++) {
        if (!is_needed[id]) continue;
        id_of[id] = static_cast<ValueId>(result.values.size());
        result.values.push_back(graph.values[id]);
    }
    for (const Node &node : graph.nodes) {
        if (!is_needed[node.output]) continue;
        result.nodes.push_back(node);
        for (ValueId &id : result.nodes.back().inputs) id = id_of[id];
        result.nodes.back().output = id_of[node.output];
    }
    for (ValueId id : graph.inputs) result.inputs.push_back(id_of[id]);
    for (const Output &output : graph.outputs) result.outputs.push_back({output.name, id_of[output.value]});
    return result;
}

}  // namespace kiln::graph
