#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "graph/passes/axes/axis_rules.h"
#include "graph/rewriting/permutation.h"

namespace kiln::graph {
namespace {

// The transpose that goes from in front of a node to behind it.
struct Sinking {
    Rewriting *graph;
    const Node *node;
    Permutation permutation;
    bool sole_uses = false;

    int64_t elements(ValueId id) const { return *element_count(graph->shape(id)); }
    bool is_transposed(ValueId id) const {
        const auto *op = graph->computed_by<Transpose>(id);
        return op && op->permutation == permutation;
    }

    // Whether a result of so many elements costs no more than the transposes that vanish.
    bool pays(int64_t result) const {
        if (!sole_uses) return true;
        int64_t saved = 0;
        for (ValueId id : node->inputs) saved += is_transposed(id) && graph->uses(id) == 1 ? elements(id) : 0;
        return result <= saved;
    }

    Shape aligned(ValueId id) const {
        Shape shape = graph->shape(id);
        shape.insert(shape.begin(), permutation.size() - shape.size(), 1);
        return shape;
    }

    // Whether an input has a form in front of the transpose that costs nothing.
    bool has_source(ValueId id) const {
        return is_transposed(id) || graph->is_constant(id) || moves_nothing(aligned(id), inverse(permutation));
    }

    ValueId source(ValueId id) const {
        if (is_transposed(id)) return graph->producer(id)->inputs[0];
        const Shape shape = aligned(id);
        if (moves_nothing(shape, inverse(permutation))) {
            return graph->between(Reshape{permuted(shape, inverse(permutation))}, {id});
        }
        return graph->between(Transpose{inverse(permutation)}, {graph->between(Reshape{shape}, {id})});
    }

    ValueId behind(Operator op) const {
        std::vector<ValueId> inputs;
        for (ValueId id : node->inputs) inputs.push_back(source(id));
        const ValueId id = graph->between(std::move(op), std::move(inputs));
        return graph->result(Transpose{permutation}, {id});
    }
};

std::optional<Operator> operator_before(const Sinking &s, const Elementwise &op) {
    return Elementwise{op.expression, permuted(op.shape, inverse(s.permutation))};
}

std::optional<Operator> operator_before(const Sinking &s, const Concat &op) { return Concat{s.permutation[op.axis]}; }

template<typename Op>  // Reduce, Normalize
std::optional<Operator> with_axes_before(const Sinking &s, Op op) {
    for (int &axis : op.axes) axis = s.permutation[axis];
    std::ranges::sort(op.axes);
    return op;
}
std::optional<Operator> operator_before(const Sinking &s, const Reduce &op) { return with_axes_before(s, op); }
std::optional<Operator> operator_before(const Sinking &s, const Normalize &op) { return with_axes_before(s, op); }

std::optional<Operator> operator_before(const Sinking &s, Resample op) {
    for (Resample::Axis &axis : op.axes) axis.axis = s.permutation[axis.axis];
    std::ranges::sort(op.axes, {}, &Resample::Axis::axis);
    return op;
}

template<typename Op>
std::optional<Operator> operator_before(const Sinking &, const Op &) {
    return {};
}

}  // namespace

std::optional<ValueId> sink_transpose(Rewriting &graph, const Node &node, bool sole_uses) {
    std::vector<TypedShape> forms;
    for (ValueId id : node.inputs) forms.push_back(graph.value(id).form);
    const auto form = result_of(node.op, forms);
    if (!form) return {};
    for (ValueId id : node.inputs) {
        const auto *transpose = graph.computed_by<Transpose>(id);
        if (!transpose || graph.shape(id).size() != form->shape.size()) continue;
        const Sinking sinking{&graph, &node, transpose->permutation, sole_uses};
        if (!std::ranges::all_of(node.inputs, [&](ValueId input) { return sinking.has_source(input); })) continue;
        if (!sinking.pays(*element_count(form->shape))) continue;
        auto op = std::visit([&](const auto &o) { return operator_before(sinking, o); }, node.op);
        if (op) return sinking.behind(std::move(*op));
    }
    return {};
}

}  // namespace kiln::graph
