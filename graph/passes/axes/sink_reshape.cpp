#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "graph/passes/axes/axis_rules.h"
#include "graph/passes/axes/reshape_groups.h"

namespace kiln::graph {
namespace {

struct Reshaped {
    ValueId value = 0, source = 0;
    Shape from, to;
};

std::optional<Reshaped> reshaped(const Rewriting &graph, ValueId id) {
    if (!graph.computed_by<Reshape>(id)) return {};
    const ValueId source = graph.producer(id)->inputs[0];
    return Reshaped{id, source, graph.shape(source), graph.shape(id)};
}

bool is_single(const Shape &shape) {
    return std::ranges::all_of(shape, [](int64_t extent) { return extent == 1; });
}

// An input of an element-wise node as it is in front of the reshape. Only what is broadcast may get a reshape of its own for
// it.
std::optional<ValueId> input_before(Rewriting &graph, ValueId id, const Reshaped &r) {
    if (is_single(graph.shape(id))) {
        return graph.shape(id).size() <= r.from.size() ? id : graph.between(Reshape{{}}, {id});
    }
    const auto other = reshaped(graph, id);
    if (other && other->from == r.from && other->to == r.to) return other->source;
    if (graph.shape(id) == r.to && !graph.is_constant(id)) return {};
    const auto shape = operand_before(r.from, r.to, graph.shape(id));
    if (!shape) return {};
    return graph.between(Reshape{*shape}, {id});
}

std::optional<ValueId> before_elementwise(Rewriting &graph, const Node &node, const Elementwise &op) {
    std::optional<Reshaped> r;
    for (ValueId id : node.inputs) {
        if (!r && graph.shape(id) == op.shape) r = reshaped(graph, id);
    }
    if (!r || is_single(op.shape)) return {};
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) {
        const auto before = input_before(graph, id, *r);
        if (!before) return {};
        inputs.push_back(*before);
    }
    const ValueId result = graph.between(Elementwise{op.expression, r->from}, std::move(inputs));
    return graph.result(Reshape{r->to}, {result}, {r->value});
}

template<typename Op>  // Reduce, Normalize
std::optional<ValueId> before_axes(Rewriting &graph, const Node &node, Op op) {
    const auto r = reshaped(graph, node.inputs[0]);
    if (!r) return {};
    const Shape result = [&] {
        Shape shape = r->to;
        if (std::is_same_v<Op, Reduce>) {
            for (int axis : op.axes) shape[axis] = 1;
        }
        return shape;
    }();
    auto axes = axes_before(r->from, r->to, op.axes);
    if (!axes || axes->empty()) return {};
    op.axes = std::move(*axes);
    const ValueId id = graph.between(std::move(op), {r->source});
    return graph.result(Reshape{result}, {id}, {r->value});
}

std::optional<ValueId> before_resample(Rewriting &graph, const Node &node, Resample op) {
    const auto r = reshaped(graph, node.inputs[0]);
    if (!r) return {};
    Shape result = r->to;
    for (Resample::Axis &axis : op.axes) {
        result[axis.axis] = static_cast<int64_t>(axis.indices.size()) / axis.taps;
        const auto before = axes_before(r->from, r->to, {axis.axis});
        if (!before || before->size() != 1 || r->from[before->front()] != r->to[axis.axis]) return {};
        axis.axis = before->front();
    }
    const ValueId id = graph.between(std::move(op), {r->source});
    return graph.result(Reshape{result}, {id}, {r->value});
}

}  // namespace

std::optional<ValueId> sink_reshape(Rewriting &graph, const Node &node) {
    if (const auto *op = std::get_if<Elementwise>(&node.op)) return before_elementwise(graph, node, *op);
    if (const auto *op = std::get_if<Reduce>(&node.op)) return before_axes(graph, node, *op);
    if (const auto *op = std::get_if<Normalize>(&node.op)) return before_axes(graph, node, *op);
    if (const auto *op = std::get_if<Resample>(&node.op)) return before_resample(graph, node, *op);
    return {};
}

}  // namespace kiln::graph
