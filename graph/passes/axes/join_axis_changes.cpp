#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "graph/passes/axes/axis_rules.h"
#include "graph/passes/axes/reshape_groups.h"
#include "graph/rewriting/permutation.h"

namespace kiln::graph {
namespace {

std::vector<int> wide_axes(const Shape &shape) {
    std::vector<int> axes;
    for (size_t axis = 0; axis < shape.size(); axis++) {
        if (shape[axis] != 1) axes.push_back(static_cast<int>(axis));
    }
    return axes;
}

// Whether both have the same extents in the same order but for those that are 1.
bool differ_in_ones(const Shape &a, const Shape &b) {
    Shape wide_a, wide_b;
    std::ranges::copy_if(a, std::back_inserter(wide_a), [](int64_t extent) { return extent != 1; });
    std::ranges::copy_if(b, std::back_inserter(wide_b), [](int64_t extent) { return extent != 1; });
    return wide_a == wide_b;
}

// The permutation in which the axes `wide` of `rank` axes have changed places, the others keep theirs.
Permutation of_wide_axes(size_t rank, const std::vector<int> &wide, const std::vector<int> &order) {
    Permutation result(rank);
    for (size_t axis = 0; axis < rank; axis++) result[axis] = static_cast<int>(axis);
    for (size_t i = 0; i < wide.size(); i++) result[wide[i]] = wide[order[i]];
    return result;
}

// The order in which a transpose leaves the axes of more than one element, as their numbers among these.
std::vector<int> order_of_wide_axes(const Shape &shape, const Permutation &permutation) {
    const std::vector<int> wide = wide_axes(shape);
    std::vector<int> order;
    for (int axis : permutation) {
        if (shape[axis] == 1) continue;
        order.push_back(static_cast<int>(std::ranges::lower_bound(wide, axis) - wide.begin()));
    }
    return order;
}

std::optional<ValueId> of_transpose(Rewriting &graph, const Node &node, const Transpose &op) {
    const ValueId x = node.inputs[0];
    const Shape result = permuted(graph.shape(x), op.permutation);
    if (result == graph.shape(x) && moves_nothing(graph.shape(x), op.permutation)) return x;
    if (moves_nothing(graph.shape(x), op.permutation)) return graph.result(Reshape{result}, {x});
    if (const auto *before = graph.computed_by<Transpose>(x)) {
        const Permutation both = composed(before->permutation, op.permutation);
        return graph.result(Transpose{both}, {graph.producer(x)->inputs[0]}, {x});
    }
    if (graph.computed_by<Reshape>(x)) {
        const ValueId source = graph.producer(x)->inputs[0];
        const Shape from = graph.shape(source);
        if (!differ_in_ones(from, graph.shape(x))) return {};
        const std::vector<int> order = order_of_wide_axes(graph.shape(x), op.permutation);
        const ValueId moved = graph.between(Transpose{of_wide_axes(from.size(), wide_axes(from), order)}, {source});
        return graph.result(Reshape{result}, {moved}, {x});
    }
    return {};
}

// reshape(transpose(x)) as transpose(reshape(x)), where every group of the reshape is a run of axes of x.
std::optional<ValueId> reshape_of_transpose(Rewriting &graph, ValueId transposed, const Shape &to) {
    const Permutation permutation = graph.computed_by<Transpose>(transposed)->permutation;
    const ValueId x = graph.producer(transposed)->inputs[0];
    const Shape &shape = graph.shape(transposed);
    Shape wide;  // of the transpose, without axes of one element
    for (int axis : wide_axes(shape)) wide.push_back(shape[axis]);
    const std::vector<int> order = order_of_wide_axes(graph.shape(x), permutation);
    const auto groups = reshape_groups(wide, to);
    if (!groups) return {};
    struct Placed {
        int position = 0;  // of the group in x
        ReshapeGroup group;
    };
    std::vector<Placed> placed;
    for (const ReshapeGroup &group : *groups) {
        for (int axis = group.from + 1; axis < group.from_end; axis++) {
            if (order[axis] != order[axis - 1] + 1) return {};
        }
        const bool is_empty = group.from == group.from_end;
        placed.push_back({is_empty ? static_cast<int>(order.size()) : order[group.from], group});
    }
    std::ranges::stable_sort(placed, {}, &Placed::position);
    Shape before;
    Permutation outward(to.size());
    for (const Placed &p : placed) {
        for (int axis = p.group.to; axis < p.group.to_end; axis++) {
            outward[axis] = static_cast<int>(before.size());
            before.push_back(to[axis]);
        }
    }
    const ValueId reshaped = graph.between(Reshape{before}, {x});
    return graph.result(Transpose{outward}, {reshaped}, {transposed});
}

std::optional<ValueId> of_reshape(Rewriting &graph, const Node &node, const Reshape &op) {
    const ValueId x = node.inputs[0];
    if (graph.shape(x) == op.shape) return x;
    if (graph.computed_by<Reshape>(x)) return graph.result(op, {graph.producer(x)->inputs[0]}, {x});
    if (!graph.computed_by<Transpose>(x) || graph.uses(x) > 1 || differ_in_ones(graph.shape(x), op.shape)) return {};
    return reshape_of_transpose(graph, x, op.shape);
}

// Whether an axis stays as it is.
bool keeps_axis(const Resample::Axis &axis, const Shape &shape) {
    if (!axis.weights.empty() || static_cast<int64_t>(axis.indices.size()) != shape[axis.axis]) return false;
    for (size_t i = 0; i < axis.indices.size(); i++) {
        if (axis.indices[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
}

bool takes_elements(const Resample &op) {
    return std::ranges::all_of(op.axes, [](const Resample::Axis &axis) { return axis.weights.empty(); });
}

// What `first` does along an axis, of the elements that `second` takes.
Resample::Axis taken(const Resample::Axis &first, const std::vector<int64_t> &second) {
    Resample::Axis result{.axis = first.axis, .taps = first.taps, .indices = {}, .weights = {}};
    for (int64_t element : second) {
        for (int tap = 0; tap < first.taps; tap++) {
            const bool is_outside = element == Resample::outside;
            const auto at = static_cast<size_t>(is_outside ? tap : element * first.taps + tap);
            result.indices.push_back(is_outside ? Resample::outside : first.indices[at]);
            if (!first.weights.empty()) result.weights.push_back(is_outside ? 0 : first.weights[at]);
        }
    }
    return result;
}

// A resample that takes elements of the result of another, as one. Nothing where the two fill with different numbers.
std::optional<Resample> together(const Resample &first, const Resample &second) {
    if (!takes_elements(second)) return {};
    if (first.reads_outside() && second.reads_outside() && !first.fills_with(second.fill)) return {};
    Resample result{first.axes, first.reads_outside() ? first.fill : second.fill};
    for (const Resample::Axis &axis : second.axes) {
        const auto same = std::ranges::find(result.axes, axis.axis, &Resample::Axis::axis);
        if (same == result.axes.end()) {
            result.axes.push_back(axis);
        } else {
            *same = taken(*same, axis.indices);
        }
    }
    std::ranges::sort(result.axes, {}, &Resample::Axis::axis);
    return result;
}

std::optional<ValueId> of_resample(Rewriting &graph, const Node &node, Resample op) {
    const ValueId x = node.inputs[0];
    const Shape &shape = graph.shape(x);
    const auto changes_nothing = [&](const Resample::Axis &axis) { return keeps_axis(axis, shape); };
    if (std::erase_if(op.axes, changes_nothing) > 0 || op.axes.empty()) {
        return op.axes.empty() ? x : graph.result(std::move(op), node.inputs);
    }
    const auto *before = graph.computed_by<Resample>(x);
    if (!before || graph.uses(x) > 1) return {};
    auto both = together(*before, op);
    if (!both) return {};
    return graph.result(std::move(*both), {graph.producer(x)->inputs[0]}, {x});
}

}  // namespace

std::optional<ValueId> join_axis_changes(Rewriting &graph, const Node &node) {
    if (const auto *op = std::get_if<Transpose>(&node.op)) return of_transpose(graph, node, *op);
    if (const auto *op = std::get_if<Reshape>(&node.op)) return of_reshape(graph, node, *op);
    if (const auto *op = std::get_if<Resample>(&node.op)) return of_resample(graph, node, *op);
    if (std::holds_alternative<Concat>(node.op) && node.inputs.size() == 1) return node.inputs[0];
    if (const auto *op = std::get_if<Reduce>(&node.op)) {
        const Shape &shape = graph.shape(node.inputs[0]);
        if (std::ranges::all_of(op->axes, [&](int axis) { return shape[axis] == 1; })) return node.inputs[0];
    }
    return {};
}

}  // namespace kiln::graph
