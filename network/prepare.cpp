#include "network/prepare.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/rewriting/rewriting.h"

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

}  // namespace

Graph expand_normalizations(const Graph &graph) {
    return rewrite(graph, [](Rewriting &now, const Node &node) -> std::optional<ValueId> {
        const auto *op = std::get_if<Normalize>(&node.op);
        if (!op) return {};
        const ValueId x = node.inputs[0];
        return op->kind == Normalize::Kind::mean_variance ? mean_variance(now, *op, x) : softmax(now, *op, x);
    });
}

Graph fold_empty_values(const Graph &graph) {
    return rewrite(graph, [](Rewriting &now, const Node &node) -> std::optional<ValueId> {
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
