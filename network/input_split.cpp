#include "network/input_split.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace kiln::network {
namespace {

using namespace graph;

bool adds_up_nothing(const Operator &op) {
    return std::holds_alternative<Elementwise>(op) || std::holds_alternative<Resample>(op) ||
           std::holds_alternative<Transpose>(op) || std::holds_alternative<Reshape>(op) ||
           std::holds_alternative<Concat>(op);
}

// By value: the first input that it depends on, as a number of the graph's inputs, or -1.
std::vector<int> first_inputs(const Graph &graph) {
    std::vector<int> first(graph.values.size(), -1);
    for (size_t i = 0; i < graph.inputs.size(); i++) first[graph.inputs[i]] = int(i);
    for (const Node &node : graph.nodes) {
        int &of_result = first[node.output];
        for (const ValueId id : node.inputs) {
            if (first[id] >= 0 && (of_result < 0 || first[id] < of_result)) of_result = first[id];
        }
    }
    return first;
}

// One of the two graphs while it grows out of the whole.
class Part {
public:
    explicit Part(const StoredGraph &whole)
        : whole_(whole), builder_(Graph{.name = whole.graph.name}), ids_(whole.graph.values.size(), -1) {}

    void input(ValueId id, const std::string &name) { put(id, builder_.input(name, value(id).form)); }

    void node(const Node &node) {
        std::vector<ValueId> inputs;
        for (const ValueId id : node.inputs) inputs.push_back(taken(id));
        const Result<ValueId> made = builder_.node(node.op, std::move(inputs), value(node.output).name, node.origins);
        put(node.output, *made);
    }

    void output(const std::string &name, ValueId id) { builder_.output(name, taken(id)); }

    std::string name_of(ValueId id) const { return builder_.value(ids_[id]).name; }

    StoredGraph finish() && { return {std::move(builder_).finish(), std::move(storages_), whole_.summary}; }

private:
    const Value &value(ValueId id) const { return whole_.graph.values[id]; }

    void put(ValueId id, ValueId made) {
        ids_[id] = made;
        storages_.push_back(whole_.storages[id]);
    }

    // Constants come along when something reads them.
    ValueId taken(ValueId id) {
        if (ids_[id] < 0) put(id, builder_.constant(value(id).name, value(id).form, *value(id).constant));
        return ids_[id];
    }

    const StoredGraph &whole_;
    GraphBuilder builder_;
    std::vector<ValueId> ids_;  // by value of the whole graph
    std::vector<Storage> storages_;
};

}  // namespace

std::vector<bool> nodes_at_input(const Graph &graph) {
    std::vector<bool> is_output(graph.values.size()), is_early(graph.values.size()), result;
    for (const Output &output : graph.outputs) is_output[output.value] = true;
    for (const ValueId id : graph.inputs) is_early[id] = true;
    for (const Node &node : graph.nodes) {
        bool reads_input = false, waits = false;
        for (const ValueId id : node.inputs) {
            reads_input = reads_input || is_early[id];
            waits = waits || (!is_early[id] && !graph.values[id].constant);
        }
        const bool is_at_input = reads_input && !waits && adds_up_nothing(node.op) && !is_output[node.output];
        is_early[node.output] = is_at_input;
        result.push_back(is_at_input);
    }
    return result;
}

InputSplit split_at_input(const StoredGraph &whole) {
    const Graph &graph = whole.graph;
    const std::vector<bool> is_at_input = nodes_at_input(graph);
    std::vector<bool> is_wanted(graph.values.size());  // by the network
    for (const Output &output : graph.outputs) is_wanted[output.value] = true;
    std::vector<ValueId> early = graph.inputs;  // inputs and what is computed before
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        if (is_at_input[i]) {
            early.push_back(graph.nodes[i].output);
        } else {
            for (const ValueId id : graph.nodes[i].inputs) is_wanted[id] = true;
        }
    }
    // In the order of the inputs that they come from.
    const std::vector<int> first = first_inputs(graph);
    std::ranges::stable_sort(early, {}, [&](ValueId id) { return first[id]; });

    Part preparation(whole), network(whole);
    for (const ValueId id : graph.inputs) preparation.input(id, graph.values[id].name);
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        if (is_at_input[i]) preparation.node(graph.nodes[i]);
    }
    for (const ValueId id : early) {
        if (!is_wanted[id]) continue;
        const std::string &source = graph.values[graph.inputs[size_t(first[id])]].name;
        const bool is_input = std::ranges::find(graph.inputs, id) != graph.inputs.end();
        network.input(id, is_input ? source : source + "_prepared");
        preparation.output(network.name_of(id), id);
    }
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        if (!is_at_input[i]) network.node(graph.nodes[i]);
    }
    for (const Output &output : graph.outputs) network.output(output.name, output.value);
    return {std::move(preparation).finish(), std::move(network).finish()};
}

}  // namespace kiln::network
