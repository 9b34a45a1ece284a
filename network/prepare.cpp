#include "network/prepare.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/rewriting/rewriting.h"
#include "workload/nest/nest.h"

namespace kiln::network {
namespace {

using namespace graph;
using scalar::apply;
using scalar::Function;

ValueId reduce(Rewriting &graph, Reduce::Kind kind, const std::vector<int> &axes, ValueId x) {
    return graph.between(Reduce{kind, axes}, {x});
}

// exp(x - max) has no overflow.
ValueId softmax(Rewriting &graph, const Normalize &op, ValueId x) {
    const Shape shape = graph.shape(x);
    const Expression shifted = apply(Function::subtract, operand(0), operand(1));
    const ValueId peak = reduce(graph, Reduce::Kind::maximum, op.axes, x);
    const ValueId powers = graph.between(Elementwise{apply(Function::exponential, shifted), shape}, {x, peak});
    const ValueId sum = reduce(graph, Reduce::Kind::sum, op.axes, powers);
    if (op.kind == Normalize::Kind::softmax) {
        return graph.result(Elementwise{apply(Function::divide, operand(0), operand(1)), shape}, {powers, sum});
    }
    const Expression logarithm = apply(Function::logarithm, operand(2));
    return graph.result(Elementwise{apply(Function::subtract, shifted, logarithm), shape}, {x, peak, sum});
}

// The variance is the mean of squares of differences, which does not cancel.
ValueId mean_variance(Rewriting &graph, const Normalize &op, ValueId x) {
    const Shape shape = graph.shape(x);
    const ValueId mean = reduce(graph, Reduce::Kind::mean, op.axes, x);
    const Expression difference = apply(Function::subtract, operand(0), operand(1));
    const ValueId squares =
        graph.between(Elementwise{apply(Function::multiply, difference, difference), shape}, {x, mean});
    const ValueId variance = reduce(graph, Reduce::Kind::mean, op.axes, squares);
    const Expression deviation =
        apply(Function::square_root, apply(Function::add, operand(2), scalar::constant(op.epsilon)));
    return graph.result(Elementwise{apply(Function::divide, difference, deviation), shape}, {x, mean, variance});
}

bool is_empty(const Shape &shape) { return std::ranges::count(shape, 0) > 0; }

// The largest constant that is made of nothing.
constexpr int64_t most_elements_of_nothing = int64_t{1} << 20;

// What a node computes whose inputs are all constants.
std::optional<ValueId> computed(Rewriting &graph, const Node &node) {
    std::vector<Numbers> inputs;
    std::vector<const Numbers *> pointers;
    std::vector<TypedShape> forms;
    for (const ValueId id : node.inputs) {
        if (!graph.is_constant(id)) return {};
        inputs.push_back(graph.numbers(id));
        forms.push_back(graph.value(id).form);
    }
    const Result<TypedShape> form = result_of(node.op, forms);
    if (!form || *element_count(form->shape) > most_elements_of_nothing) return {};
    for (const Numbers &numbers : inputs) pointers.push_back(&numbers);
    const Result<Numbers> result = evaluate(node.op, pointers);
    if (!result) return {};
    return graph.constant(*result);
}

// The most operands that an axis of a resample needs in a nest: a table of indices, weights, and which elements are the fill.
size_t operands_of(const Resample &op, const Resample::Axis &axis) {
    return 1 + size_t(!axis.weights.empty()) + size_t(!op.fills_with(0));
}

// The first of several axes along which elements are weighted sums, alone. Two sums of n terms are 2 n products an element, and one over
// both axes n * n. What lies outside is no sum, so such axes stay together.
std::optional<std::pair<Resample, Resample>> first_sum_apart(const Resample &op) {
    const auto is_sum = [](const Resample::Axis &axis) { return !axis.weights.empty(); };
    if (std::ranges::count_if(op.axes, is_sum) < 2 || op.reads_outside()) return {};
    std::pair<Resample, Resample> parts{{{}, op.fill}, op};
    const auto first = std::ranges::find_if(parts.second.axes, is_sum);
    parts.first.axes.push_back(*first);
    parts.second.axes.erase(first);
    return parts;
}

}  // namespace

Graph split_resamples(const Graph &graph) {
    return rewrite(graph, [](Rewriting &now, const Node &node) -> std::optional<ValueId> {
        const auto *op = std::get_if<Resample>(&node.op);
        if (!op) return {};
        if (auto parts = first_sum_apart(*op)) {
            const ValueId between = now.between(std::move(parts->first), {node.inputs[0]});
            return now.result(std::move(parts->second), {between});
        }
        Resample first{{}, op->fill}, second{{}, op->fill};
        size_t operands = 1;  // the input
        for (const Resample::Axis &axis : op->axes) {
            operands += operands_of(*op, axis);
            (operands <= most_nest_operands ? first : second).axes.push_back(axis);
        }
        if (second.axes.empty()) return {};
        const ValueId between = now.between(std::move(first), {node.inputs[0]});
        return now.result(std::move(second), {between});
    });
}

Graph expand_normalizations(const Graph &graph) {
    return rewrite(graph, [](Rewriting &now, const Node &node) -> std::optional<ValueId> {
        const auto *op = std::get_if<Normalize>(&node.op);
        if (!op) return {};
        const ValueId x = node.inputs[0];
        return op->kind == Normalize::Kind::mean_variance ? mean_variance(now, *op, x) : softmax(now, *op, x);
    });
}

Graph fold_without_operands(const Graph &graph) {
    return rewrite(graph, [](Rewriting &now, const Node &node) -> std::optional<ValueId> {
        const auto *op = std::get_if<Elementwise>(&node.op);
        if (!op || !node.inputs.empty()) return {};
        if (const std::optional<ValueId> constant = computed(now, node)) return constant;
        const std::optional<ValueId> number = computed(now, {Elementwise{op->expression, {}}, {}, 0, {}});
        if (!number) return {};
        return now.result(Elementwise{scalar::operand(0), op->shape}, {*number});
    });
}

Graph fold_empty_values(const Graph &graph) {
    return rewrite(graph, [](Rewriting &now, const Node &node) -> std::optional<ValueId> {
        std::vector<TypedShape> forms;
        for (const ValueId id : node.inputs) forms.push_back(now.value(id).form);
        const Result<TypedShape> form = result_of(node.op, forms);
        if (form && is_empty(form->shape)) return now.constant(*form, ConstantData());
        Node filled = node;
        bool has_empty = false;
        for (ValueId &id : filled.inputs) {
            if (!is_empty(now.shape(id))) continue;
            has_empty = true;
            if (!now.is_constant(id)) id = now.constant(now.value(id).form, ConstantData());
        }
        if (!has_empty) return {};
        if (const std::optional<ValueId> constant = computed(now, filled)) return constant;
        if (filled.inputs == node.inputs) return {};
        return now.result(filled.op, std::move(filled.inputs));
    });
}

}  // namespace kiln::network
