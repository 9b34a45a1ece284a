// Nodes that compute the same of the same values become one, and so do constants with equal elements. What no output needs
// goes.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/operator_text.h"
#include "graph/passes/passes.h"

namespace kiln::graph {
namespace {

// Large constants that differ do so at their beginning or their end, so few bytes tell most of them apart; equality decides.
size_t hash_of(const ConstantData &data) {
    constexpr size_t most_bytes = 4096;
    const std::string_view text(reinterpret_cast<const char *>(data.bytes().data()), data.bytes().size());
    const std::hash<std::string_view> hash;
    const size_t of_end = text.size() > most_bytes ? hash(text.substr(text.size() - most_bytes)) : 0;
    return hash(text.substr(0, most_bytes)) ^ 31 * of_end ^ text.size();
}

// What each value becomes: the first of those that are equal to it.
class Equals {
public:
    explicit Equals(const Graph &graph) : graph_(graph), first_(graph.values.size()) {
        for (size_t id = 0; id < first_.size(); id++) first_[id] = static_cast<ValueId>(id);
        for (size_t id = 0; id < first_.size(); id++) {
            if (graph.values[id].constant) constant(static_cast<ValueId>(id));
        }
        for (const Node &node : graph.nodes) this->node(node);
    }

    ValueId first(ValueId id) const { return first_[id]; }

private:
    void constant(ValueId id) {
        const Value &value = graph_.values[id];
        const size_t hash = hash_of(*value.constant);
        const auto [begin, end] = constants_.equal_range(hash);
        for (auto seen = begin; seen != end; ++seen) {
            const Value &other = graph_.values[seen->second];
            if (other.form != value.form || *other.constant != *value.constant) continue;
            first_[id] = seen->second;
            return;
        }
        constants_.emplace(hash, id);
    }

    void node(const Node &node) {
        std::vector<ValueId> inputs;
        for (ValueId id : node.inputs) inputs.push_back(first_[id]);
        std::vector<const Node *> &seen = nodes_[{std::move(inputs), fields_text(node.op)}];
        const auto equal = std::ranges::find_if(seen, [&](const Node *other) { return other->op == node.op; });
        if (equal != seen.end()) {
            first_[node.output] = (*equal)->output;
        } else {
            seen.push_back(&node);
        }
    }

    const Graph &graph_;
    std::vector<ValueId> first_;
    std::unordered_multimap<size_t, ValueId> constants_;
    // By inputs and fields, since a network may have a hundred thousand slices of one value.
    std::map<std::pair<std::vector<ValueId>, std::string>, std::vector<const Node *>> nodes_;
};

}  // namespace

Graph merge_equal(const Graph &graph) {
    const Equals equals(graph);
    Graph result = graph;
    for (Node &node : result.nodes) {
        for (ValueId &id : node.inputs) id = equals.first(id);
    }
    for (Output &output : result.outputs) output.value = equals.first(output.value);
    return without_dead_values(result);
}

}  // namespace kiln::graph
