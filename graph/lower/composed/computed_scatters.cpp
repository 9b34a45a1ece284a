#include "graph/lower/composed/computed_scatters.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/lower/composed/computed_places.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"

namespace kiln::graph {
namespace {

// So many updates of a line are one element-wise kernel that reads the data once: with them and their places it has eight operands,
// the most that kernels take.
constexpr int64_t few_updates = 3;

constexpr Joining joinings[] = {
    {"add", Function::add, Reduce::Kind::sum, 0},
    {"mul", Function::multiply, Reduce::Kind::product, 1},
    {"max", Function::maximum, Reduce::Kind::maximum, {}},
    {"min", Function::minimum, Reduce::Kind::minimum, {}},
};

// Lines of data, each with updates of its own. The axes of all three: what stands before the axis of the lines, it, what stands behind.
struct Lines {
    ValueId data;
    ValueId places;   // i32, -1: outside. One element behind the axis, if the first axis has one: where whole blocks go
    ValueId updates;  // as many along the axis as places
};

class Scatter {
public:
    explicit Scatter(NodeLowering *node) : node_(*node), joining_(joining_of(*node)) {}

    ValueId run(const Lines &lines) const {
        const int64_t updates = node_.shape(lines.places)[1];
        if (updates <= few_updates) return one_after_the_other(lines);
        const int64_t compared = joining_ ? node_.elements(lines.data) : elements_with_places(lines);
        if (updates > most_comparisons / compared) {
            refuse("its input 'indices' is known only when the network runs, and each of " + std::to_string(compared) +
                   " elements would be compared with " + std::to_string(updates) + " of them, which takes more than " +
                   std::to_string(most_comparisons) + " comparisons; " + node_.way_out(1));
        }
        return joining_ ? all_joined(lines) : last_ones(lines);
    }

private:
    // What an index may lead to: elements, or blocks of them.
    int64_t elements_with_places(const Lines &lines) const {
        const Shape places = node_.shape(lines.places);
        return checked_count({places[0], node_.shape(lines.data)[1], places[2]});
    }

    ValueId one_after_the_other(const Lines &lines) const {
        const int64_t updates = node_.shape(lines.places)[1];
        std::vector<ValueId> inputs{lines.data, counted_along(node_, node_.shape(lines.data)[1], 1, 3)};
        Expression result = operand(0);
        for (int64_t i = 0; i < updates; i++) {
            const auto first = static_cast<int>(inputs.size());
            const Expression is_here = equal(operand(first), operand(1)), update = operand(first + 1);
            inputs.push_back(take(node_, lines.places, {{1, {i}}}));
            inputs.push_back(take(node_, lines.updates, {{1, {i}}}));
            result = joining_ ? apply(joining_->function, result, select(is_here, update, unchanged(lines, operand(0))))
                              : select(is_here, update, result);
        }
        return node_.elementwise(result, std::move(inputs));
    }

    // What stands for an update where there is none. That an update is chosen, and not multiplied by 0 or 1, keeps a NaN in its place.
    Expression unchanged(const Lines &lines, Expression data) const {
        return joining_->neutral ? constant(*joining_->neutral, node_.type(lines.data)) : std::move(data);
    }

    // With an axis of one element in front of its second or third.
    ValueId with_axis(ValueId value, size_t axis) const {
        Shape shape = node_.shape(value);
        shape.insert(shape.begin() + static_cast<int64_t>(axis), 1);
        return node_.reshape(value, shape);
    }

    // Axes: what stands before, updates, places of the data, what stands behind.
    ValueId reduced(Reduce::Kind kind, const Expression &each, std::vector<ValueId> inputs) const {
        const ValueId all = node_.elementwise(each, std::move(inputs));
        const Shape shape = node_.shape(all);
        return node_.reshape(node_.add(Reduce{kind, {1}}, {all}), {shape[0], shape[2], shape[3]});
    }

    ValueId all_joined(const Lines &lines) const {
        std::vector<ValueId> inputs{with_axis(lines.places, 2), counted_along(node_, node_.shape(lines.data)[1], 2, 4),
                                    with_axis(lines.updates, 2)};
        if (!joining_->neutral) inputs.push_back(with_axis(lines.data, 1));
        const Expression each = select(equal(operand(0), operand(1)), operand(2), unchanged(lines, operand(3)));
        const ValueId joined = reduced(joining_->kind, each, std::move(inputs));
        return node_.elementwise(apply(joining_->function, operand(0), operand(1)), {lines.data, joined});
    }

    // The greatest number of an update that leads to a place is that of the last one; where there is none, it is -1.
    ValueId last_ones(const Lines &lines) const {
        const NumbersOf number{Element::i32};
        const int64_t updates = node_.shape(lines.places)[1];
        const Expression each = select(equal(operand(0), operand(1)), operand(2), number(-1));
        const ValueId last =
            reduced(Reduce::Kind::maximum, each,
                    {with_axis(lines.places, 2), counted_along(node_, node_.shape(lines.data)[1], 2, 4),
                     counted_along(node_, updates, 1, 4)});
        return node_.elementwise(select(less(operand(1), number(0)), operand(0), operand(2)),
                                 {lines.data, last, updates_at(lines, last)});
    }

    ValueId updates_at(const Lines &lines, ValueId last) const {
        const Shape shape = node_.shape(lines.data);
        if (shape[0] > 1 || node_.shape(last)[2] > 1) return elements_along(node_, lines.updates, 1, last);
        const ValueId blocks = node_.reshape(lines.updates, {node_.shape(lines.updates)[1], shape[2]});
        const ValueId taken = node_.add(Gather{0}, {blocks, node_.reshape(last, {shape[1]})});
        return node_.reshape(taken, shape);
    }

    NodeLowering &node_;
    const Joining *joining_;
};

// As many places along the other axes as the data have: what was not there leads outside, and writes nothing.
ValueId filled(NodeLowering &node, ValueId value, int axis, double fill) {
    const Shape shape = node.shape(node.input(0)), form = node.shape(value);
    std::vector<IndexedAxis> axes;
    for (size_t d = 0; d < shape.size(); d++) {
        if (d == static_cast<size_t>(axis) || form[d] == shape[d]) continue;
        std::vector<int64_t> indices = index_range(0, shape[d]);
        std::fill(indices.begin() + form[d], indices.end(), Resample::outside);
        axes.push_back({static_cast<int>(d), std::move(indices)});
    }
    return take(node, value, std::move(axes), fill);
}

}  // namespace

const Joining *joining_of(const NodeLowering &node) {
    const std::string reduction = node.attributes.text("reduction", "none");
    if (reduction == "none") return nullptr;
    const auto found = std::ranges::find(joinings, reduction, &Joining::name);
    if (found == std::end(joinings))
        reject("its attribute 'reduction' is " + shown(reduction) + ", which must be none, add, mul, max or min");
    if (node.type(node.input(0)) == Element::boolean)
        refuse("its attribute 'reduction' is " + shown(reduction) + ", and its data are bool; cast them to int32");
    return found;
}

ValueId scattered_along(NodeLowering &node, int axis) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    check_other_axes(node, shape, axis, node.input(1));
    const int64_t extent = shape[static_cast<size_t>(axis)];
    const Scatter scatter(&node);
    if (node.elements(x) == 0 || node.elements(node.input(1)) == 0) return x;
    const int64_t before = checked_count({shape.begin(), shape.begin() + axis});
    const int64_t behind = checked_count({shape.begin() + axis + 1, shape.end()});
    const auto as_lines = [&](ValueId value, double fill) {
        const int64_t along = node.shape(value)[static_cast<size_t>(axis)];
        return node.reshape(filled(node, value, axis, fill), {before, along, behind});
    };
    const ValueId places = places_inside(node, node.input(1), extent);
    return node.reshape(scatter.run({as_lines(x, 0), as_lines(places, -1), as_lines(node.input(2), 0)}), shape);
}

ValueId scattered_blocks(NodeLowering &node) {
    const ValueId x = node.input(0), indices = node.input(1);
    const Shape shape = node.shape(x);
    const int64_t length = node.shape(indices).back();
    const Scatter scatter(&node);
    if (node.elements(x) == 0 || node.elements(node.input(2)) == 0) return x;
    const ValueId places = block_places(node, shape, 0, indices);
    const int64_t blocks = checked_count({shape.begin(), shape.begin() + length});
    const int64_t updates = node.elements(places), inner = checked_count({shape.begin() + length, shape.end()});
    return node.reshape(scatter.run({node.reshape(x, {1, blocks, inner}), node.reshape(places, {1, updates, 1}),
                                     node.reshape(node.input(2), {1, updates, inner})}),
                        shape);
}

}  // namespace kiln::graph
