#include "graph/passes/quantization/stored_edges.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

// How a node quantizes or dequantizes its first input: by constants, the same for all elements.
struct EdgeNode {
    UniformQuantization by;
    Element stored = Element::i8;
    bool quantizes = false;
    bool operator==(const EdgeNode &) const = default;
};

class Edges {
public:
    explicit Edges(const Graph &graph)
        : graph_(graph), readers_(graph.values.size()), producers_(graph.values.size(), nullptr) {
        for (const Node &node : graph.nodes) {
            for (const ValueId id : node.inputs) readers_[id].push_back(&node);
            producers_[node.output] = &node;
        }
    }

    // What quantizes the input, if nothing else reads it.
    std::optional<EdgeNode> of_input(ValueId id) const {
        if (is_output(id) || readers_[id].empty()) return {};
        const std::optional<EdgeNode> first = edge_node(*readers_[id].front());
        for (const Node *reader : readers_[id]) {
            const bool is_first_operand = reader->inputs[0] == id && std::ranges::count(reader->inputs, id) == 1;
            if (!first || !first->quantizes || !is_first_operand || edge_node(*reader) != first) return {};
        }
        return first;
    }

    // What dequantizes the output.
    std::optional<EdgeNode> of_output(ValueId id) const {
        if (producers_[id] == nullptr) return {};
        const std::optional<EdgeNode> node = edge_node(*producers_[id]);
        return node && !node->quantizes ? node : std::nullopt;
    }

    const Node *producer(ValueId id) const { return producers_[id]; }

private:
    const TypedShape &form(ValueId id) const { return graph_.values[id].form; }
    bool is_output(ValueId id) const { return std::ranges::count(graph_.outputs, id, &Output::value) > 0; }

    std::optional<double> number(ValueId id) const {
        const Value &value = graph_.values[id];
        if (!value.constant || *element_count(value.form.shape) != 1) return {};
        const Numbers numbers = from_constant(value.form, *value.constant);
        if (const auto *integers = std::get_if<std::vector<int64_t>>(&numbers.elements))
            return static_cast<double>(integers->front());
        return std::get<std::vector<double>>(numbers.elements).front();
    }

    std::optional<EdgeNode> edge_node(const Node &node) const {
        const auto *op = std::get_if<Elementwise>(&node.op);
        if (!op || !(is_quantization(*op) || is_dequantization(*op))) return {};
        if (form(node.inputs[0]).shape != form(node.output).shape) return {};
        EdgeNode edge{.by = {}, .stored = Element::i8, .quantizes = is_quantization(*op)};
        edge.stored = form(edge.quantizes ? node.output : node.inputs[0]).type;
        const Element number_type = form(edge.quantizes ? node.inputs[0] : node.output).type;
        if ((edge.stored != Element::i8 && edge.stored != Element::u8) || number_type != Element::f32) return {};
        const std::optional<double> scale = number(node.inputs[1]);
        const std::optional<double> zero_point = node.inputs.size() > 2 ? number(node.inputs[2]) : 0.0;
        if (!scale || !(*scale > 0) || !std::isfinite(*scale) || !zero_point) return {};
        edge.by = {*scale, static_cast<int64_t>(*zero_point)};
        return edge;
    }

    const Graph &graph_;
    std::vector<std::vector<const Node *>> readers_;
    std::vector<const Node *> producers_;
};

std::optional<UniformQuantization> numbers_of(const std::optional<EdgeNode> &edge) {
    return edge ? std::optional(edge->by) : std::nullopt;
}

}  // namespace

StoredEdges stored_edges(const Graph &graph) {
    const Edges edges(graph);
    StoredEdges result;
    GraphBuilder builder(Graph{.name = graph.name});
    std::vector<ValueId> ids(graph.values.size(), -1), stored_input(graph.values.size(), -1);
    for (const ValueId id : graph.inputs) {
        const std::optional<EdgeNode> edge = edges.of_input(id);
        TypedShape form = graph.values[id].form;
        if (edge) form.type = edge->stored;
        (edge ? stored_input : ids)[id] = builder.input(graph.values[id].name, std::move(form));
        result.inputs.push_back(numbers_of(edge));
    }
    const auto taken = [&](ValueId id) {
        const Value &value = graph.values[id];
        if (ids[id] < 0) ids[id] = builder.constant(value.name, value.form, *value.constant);
        return ids[id];
    };
    for (const Node &node : graph.nodes) {
        if (!node.inputs.empty() && stored_input[node.inputs[0]] >= 0) {
            ids[node.output] = stored_input[node.inputs[0]];
            continue;
        }
        std::vector<ValueId> inputs;
        for (const ValueId id : node.inputs) inputs.push_back(taken(id));
        ids[node.output] = *builder.node(node.op, std::move(inputs), graph.values[node.output].name, node.origins);
    }
    for (const Output &output : graph.outputs) {
        const std::optional<EdgeNode> edge = edges.of_output(output.value);
        builder.output(output.name, taken(edge ? edges.producer(output.value)->inputs[0] : output.value));
        result.outputs.push_back(numbers_of(edge));
    }
    result.graph = without_dead_values(std::move(builder).finish());
    return result;
}

}  // namespace kiln::graph
