#include "graph/lower/composed/computed_places.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"

namespace kiln::graph {
namespace {

void check_indices(const NodeLowering &node, ValueId indices, int64_t places) {
    const Element type = node.type(indices);
    if (is_float(type) || type == Element::boolean) reject("its indices are " + std::string(name(type)));
    if (places > std::numeric_limits<int32_t>::max()) refuse("its input has too many elements for indices");
}

// An index along an axis of `extent` elements: counted from 0 on, and whether it is inside.
struct Index {
    Expression counted, is_inside;
};

Index index_of(const Expression &operand, Element type, int64_t extent) {
    const NumbersOf number{type};
    const Expression counted = counted_from_first(operand, type, extent);
    const Expression is_behind_first = apply(Function::less_or_equal, number(0), counted);
    return {scalar::cast(counted, Element::i32),
            apply(Function::logical_and, is_behind_first, less(counted, number(static_cast<double>(extent))))};
}

// Places that follow from an element's own along some axes: the sum of each times its step. The axes are those of `shape`.
ValueId own_places(NodeLowering &node, const Shape &shape, const Shape &step) {
    const int64_t all = checked_count(shape);
    check_places(all);
    node.check_room(shape);
    const Shape own = row_major_strides(shape);
    std::vector<int64_t> places(static_cast<size_t>(all));
    for (int64_t i = 0; i < all; i++) {
        for (size_t d = 0; d < shape.size(); d++) places[static_cast<size_t>(i)] += i / own[d] % shape[d] * step[d];
    }
    return node.constant({{Element::i32, shape}, std::move(places)});
}

// `places` of rows of `x`, whose inner axes are `inner`.
ValueId rows_at(NodeLowering &node, ValueId x, ValueId places, const Shape &inner) {
    const int64_t width = checked_count(inner);
    Shape result = node.shape(places);
    result.insert(result.end(), inner.begin(), inner.end());
    const int64_t rows = width == 0 ? 0 : node.elements(x) / width;
    if (rows == 0 || checked_count(result) == 0) {
        if (checked_count(result) > 0) reject("it takes elements of an input that has none");
        Numbers none{{node.type(x), result}, std::vector<double>{}};
        if (!is_float(node.type(x))) none.elements = std::vector<int64_t>{};
        return node.constant(none);
    }
    const ValueId line = node.reshape(places, {node.elements(places)});
    const ValueId taken = node.add(Gather{0}, {node.reshape(x, {rows, width}), line});
    return node.reshape(taken, result);
}

}  // namespace

void check_other_axes(const NodeLowering &node, const Shape &shape, int axis, ValueId indices) {
    const Shape form = node.shape(indices);
    for (size_t d = 0; d < shape.size(); d++) {
        if (d == static_cast<size_t>(axis) || form[d] <= shape[d]) continue;
        reject("its indices of shape " + to_text(form) + " are more than its input of shape " + to_text(shape) +
               " has along axis " + std::to_string(d));
    }
}

ValueId places_inside(NodeLowering &node, ValueId indices, int64_t extent) {
    check_indices(node, indices, extent);
    const Index index = index_of(operand(0), node.type(indices), extent);
    return node.elementwise(select(index.is_inside, index.counted, NumbersOf{Element::i32}(-1)), {indices});
}

ValueId elements_along(NodeLowering &node, ValueId x, int axis, ValueId indices) {
    const Shape shape = node.shape(x);
    const auto along = static_cast<size_t>(axis);
    check_indices(node, indices, node.elements(x));
    check_other_axes(node, shape, axis, indices);
    Shape others = node.shape(indices);
    others[along] = 1;
    const Shape step = row_major_strides(shape);
    const NumbersOf number{Element::i32};
    const Index index = index_of(operand(0), node.type(indices), shape[along]);
    const Expression place = index.counted * number(static_cast<double>(step[along])) + operand(1);
    const ValueId places =
        node.elementwise(select(index.is_inside, place, number(-1)), {indices, own_places(node, others, step)});
    return rows_at(node, x, places, {});
}

ValueId block_places(NodeLowering &node, const Shape &shape, int64_t batch, ValueId indices) {
    const Shape form = node.shape(indices);
    const int64_t length = form.back();
    const Shape outer(shape.begin(), shape.begin() + batch + length);
    check_indices(node, indices, checked_count(outer));
    const Shape step = row_major_strides(outer);
    const int last = static_cast<int>(form.size()) - 1;
    const NumbersOf number{Element::i32};
    Shape rows(form.begin(), form.end() - 1), batches(rows.size(), 1), batch_step(rows.size(), 0);
    for (size_t d = 0; d < static_cast<size_t>(batch); d++) batches[d] = form[d], batch_step[d] = step[d];
    std::vector<ValueId> inputs{own_places(node, batches, batch_step)};
    Expression place = operand(0), is_inside;
    for (int64_t k = 0; k < length; k++) {
        const auto axis = static_cast<size_t>(batch + k);
        const Index index = index_of(operand(static_cast<int>(k) + 1), node.type(indices), shape[axis]);
        place = place + index.counted * number(static_cast<double>(step[axis]));
        is_inside = k == 0 ? index.is_inside : apply(Function::logical_and, is_inside, index.is_inside);
        inputs.push_back(node.reshape(take(node, indices, {{last, {k}}}), rows));
    }
    return node.elementwise(select(is_inside, place, number(-1)), std::move(inputs));
}

ValueId blocks_at(NodeLowering &node, ValueId x, int64_t batch, ValueId indices) {
    const Shape shape = node.shape(x);
    const Shape inner(shape.begin() + batch + node.shape(indices).back(), shape.end());
    return rows_at(node, x, block_places(node, shape, batch, indices), inner);
}

}  // namespace kiln::graph
