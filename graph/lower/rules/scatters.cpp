// GatherElements, GatherND, and the scatters. Where indices are known, each element of the result is one element of the inputs, by its
// place in them row by row; graph/lower/composed/computed_places.h and computed_scatters.h have the others.
#include <algorithm>
#include <numeric>

#include "graph/lower/composed/computed_places.h"
#include "graph/lower/composed/computed_scatters.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

int64_t index_within(int64_t index, int64_t extent, int axis) {
    if (index < -extent || index >= extent) {
        reject("index " + std::to_string(index) + " is not within axis " + std::to_string(axis) + " of its input, " +
               std::to_string(extent) + " elements");
    }
    return index < 0 ? index + extent : index;
}

// The elements of `sources`, one source after the other, at these places.
ValueId elements_at(NodeLowering &node, const std::vector<ValueId> &sources, std::vector<int64_t> places,
                    const Shape &shape) {
    check_places(static_cast<int64_t>(places.size()));
    std::vector<ValueId> flat;
    for (const ValueId source : sources) {
        if (node.elements(source) > 0) flat.push_back(node.reshape(source, {node.elements(source)}));
    }
    if (flat.empty()) return node.reshape(sources[0], shape);
    const ValueId all = flat.size() == 1 ? flat[0] : node.add(Concat{0}, std::move(flat));
    return node.reshape(take(node, all, {{0, std::move(places)}}), shape);
}

void check_has_axes(const NodeLowering &node, const Shape &shape) {
    const Shape form = node.shape(node.input(1));
    if (form.size() != shape.size()) reject("its indices of shape " + to_text(form) + " have not the axes of its data");
}

// Where the places of `indices`, one an element of its shape, lead along `axis` of `shape`: row by row.
std::vector<int64_t> places_along(const NodeLowering &node, const Shape &shape, int axis) {
    check_has_axes(node, shape);
    const Shape form = node.shape(node.input(1));
    const std::vector<int64_t> indices = known_indices(node, 1);
    const Shape step = row_major_strides(shape), own = row_major_strides(form);
    std::vector<int64_t> places(indices.size());
    for (size_t i = 0; i < indices.size(); i++) {
        int64_t rest = static_cast<int64_t>(i);
        for (size_t d = 0; d < shape.size(); d++) {
            const bool is_axis = static_cast<int>(d) == axis;
            const int64_t at = is_axis ? indices[i] : rest / own[d];
            rest %= own[d];
            places[i] += index_within(at, shape[d], static_cast<int>(d)) * step[d];
        }
    }
    return places;
}

void gather_elements(NodeLowering &node) {
    const ValueId x = node.input(0);
    const int axis = axis_of(node.attributes.integer("axis", 0), node.rank(x));
    if (!node.is_known(1)) {
        check_has_axes(node, node.shape(x));
        return node.result(elements_along(node, x, axis, node.input(1)));
    }
    std::vector<int64_t> places = places_along(node, node.shape(x), axis);
    node.result(elements_at(node, {x}, std::move(places), node.shape(node.input(1))));
}

// Rows of indices that lead along the first axes behind `batch`: the first place of each, and the elements from there on.
struct RowBlocks {
    std::vector<int64_t> first;
    int64_t elements = 1;
    Shape rows, inner;  // the axes of the rows, and those of a block

    Shape shape() const {
        Shape all = rows;
        all.insert(all.end(), inner.begin(), inner.end());
        return all;
    }

    // Of every element, in order.
    std::vector<int64_t> places() const {
        check_places(checked_count(shape()));
        std::vector<int64_t> places;
        for (const int64_t block : first) {
            for (int64_t i = 0; i < elements; i++) places.push_back(block + i);
        }
        return places;
    }
};

// Refuses indices that have other batches than the input, or more axes.
void check_leads_into(const NodeLowering &node, const Shape &shape, int64_t batch) {
    const Shape form = node.shape(node.input(1));
    const int64_t rank = static_cast<int64_t>(shape.size());
    if (form.empty()) reject("its indices have no axes");
    const int64_t length = form.back();
    if (batch < 0 || batch >= static_cast<int64_t>(form.size()) || length < 1 || batch + length > rank)
        reject("its indices of shape " + to_text(form) + " do not lead into an input of shape " + to_text(shape));
    for (int64_t d = 0; d < batch; d++) {
        if (form[static_cast<size_t>(d)] != shape[static_cast<size_t>(d)])
            reject("its indices of shape " + to_text(form) + " have other batches than its input of shape " +
                   to_text(shape));
    }
}

RowBlocks blocks_of(const NodeLowering &node, const Shape &shape, int64_t batch) {
    check_leads_into(node, shape, batch);
    const Shape form = node.shape(node.input(1));
    const int64_t length = form.back();
    RowBlocks blocks;
    blocks.rows.assign(form.begin(), form.end() - 1);
    blocks.inner.assign(shape.begin() + batch + length, shape.end());
    blocks.elements = checked_count(blocks.inner);
    const std::vector<int64_t> indices = known_indices(node, 1);
    const Shape step = row_major_strides(shape);
    const int64_t rows = checked_count(blocks.rows), batches = checked_count({form.begin(), form.begin() + batch});
    const int64_t of_batch = checked_count({shape.begin() + batch, shape.end()});
    for (int64_t row = 0; row < rows; row++) {
        int64_t place = row / (rows / batches) * of_batch;
        for (int64_t k = 0; k < length; k++) {
            const auto axis = static_cast<size_t>(batch + k);
            place += index_within(indices[static_cast<size_t>(row * length + k)], shape[axis], static_cast<int>(axis)) *
                     step[axis];
        }
        blocks.first.push_back(place);
    }
    return blocks;
}

void gather_nd(NodeLowering &node) {
    const ValueId x = node.input(0);
    const int64_t batch = node.attributes.integer("batch_dims", 0);
    if (!node.is_known(1)) {
        check_leads_into(node, node.shape(x), batch);
        return node.result(blocks_at(node, x, batch, node.input(1)));
    }
    const RowBlocks blocks = blocks_of(node, node.shape(x), batch);
    node.result(elements_at(node, {x}, blocks.places(), blocks.shape()));
}

// One row of updates, and the place of the data that each goes to.
struct Updates {
    ValueId row;
    std::vector<int64_t> places;
};

// Those that go to one place joined with each other, so that each has a place of its own.
Updates joined_by_place(NodeLowering &node, const Joining &joining, const Updates &all) {
    const size_t count = all.places.size();
    std::vector<int64_t> order = index_range(0, static_cast<int64_t>(count));
    const auto place = [&](int64_t i) { return all.places[static_cast<size_t>(i)]; };
    std::ranges::stable_sort(order, {}, place);
    std::vector<size_t> first;  // of those that go to one place, in their order
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || place(order[i]) != place(order[i - 1])) first.push_back(i);
    }
    if (first.size() == count) return all;
    Updates joined{all.row, {}};
    for (const size_t i : first) joined.places.push_back(place(order[i]));
    const auto groups = static_cast<int64_t>(first.size());
    first.push_back(count);
    size_t most = 0;
    for (size_t i = 1; i < first.size(); i++) most = std::max(most, first[i] - first[i - 1]);
    check_places(static_cast<int64_t>(most) * groups);
    std::vector<int64_t> from;
    for (size_t turn = 0; turn < most; turn++) {
        for (size_t i = 1; i < first.size(); i++) {
            const int64_t none = joining.neutral ? Resample::outside : order[first[i - 1]];
            from.push_back(first[i - 1] + turn < first[i] ? order[first[i - 1] + turn] : none);
        }
    }
    const ValueId rows = take(node, all.row, {{0, std::move(from)}}, joining.neutral.value_or(0));
    const ValueId one = node.add(Reduce{joining.kind, {0}}, {node.reshape(rows, {static_cast<int64_t>(most), groups})});
    joined.row = node.reshape(one, {groups});
    return joined;
}

// The updates at the elements that they go to, and a number elsewhere.
ValueId updates_at(NodeLowering &node, const Updates &updates, double elsewhere) {
    const ValueId x = node.input(0);
    std::vector<int64_t> from(static_cast<size_t>(node.elements(x)), Resample::outside);
    for (size_t i = 0; i < updates.places.size(); i++)
        from[static_cast<size_t>(updates.places[i])] = static_cast<int64_t>(i);
    return node.reshape(take(node, updates.row, {{0, std::move(from)}}, elsewhere), node.shape(x));
}

// Element i of the updates goes to places[i], the last of those that go to one place; or it is joined with what is there.
void scatter(NodeLowering &node, std::vector<int64_t> places) {
    const Joining *joining = joining_of(node);
    const ValueId x = node.input(0);
    if (places.empty()) return node.result(x);
    check_places(node.elements(x));
    Updates updates{node.reshape(node.input(2), {node.elements(node.input(2))}), std::move(places)};
    if (joining) updates = joined_by_place(node, *joining, updates);
    const auto joined = [&](ValueId other) {
        node.result(node.elementwise(apply(joining->function, operand(0), operand(1)), {x, other}));
    };
    if (joining && joining->neutral) return joined(updates_at(node, updates, *joining->neutral));
    const int64_t own = node.elements(x);
    std::vector<int64_t> from = index_range(0, own);
    for (size_t i = 0; i < updates.places.size(); i++)
        from[static_cast<size_t>(updates.places[i])] = own + static_cast<int64_t>(i);
    const ValueId put = elements_at(node, {x, updates.row}, std::move(from), node.shape(x));
    if (joining) return joined(put);
    node.result(put);
}

void check_updates(const NodeLowering &node, const Shape &expected) {
    const Shape form = node.shape(node.input(2));
    if (form != expected)
        reject("its updates of shape " + to_text(form) + " are not " + to_text(expected) + ", as its indices ask for");
    if (node.type(node.input(0)) != node.type(node.input(2))) reject("its updates have another type than its data");
}

void scatter_elements(NodeLowering &node) {
    const Shape shape = node.shape(node.input(0));
    const int axis = axis_of(node.attributes.integer("axis", 0), static_cast<int>(shape.size()));
    check_has_axes(node, shape);
    check_updates(node, node.shape(node.input(1)));
    if (!node.is_known(1)) return node.result(scattered_along(node, axis));
    scatter(node, places_along(node, shape, axis));
}

void scatter_nd(NodeLowering &node) {
    const Shape shape = node.shape(node.input(0));
    check_leads_into(node, shape, 0);
    const Shape form = node.shape(node.input(1));
    Shape expected(form.begin(), form.end() - 1);
    expected.insert(expected.end(), shape.begin() + form.back(), shape.end());
    check_updates(node, expected);
    if (!node.is_known(1)) return node.result(scattered_blocks(node));
    scatter(node, blocks_of(node, shape, 0).places());
}

constexpr Rule rows_of_scatter[] = {
    {"GatherElements", 11, {2, 2}, 1, "axis", gather_elements},
    {"GatherND", 11, {2, 2}, 1, "", gather_nd},
    {"GatherND", 12, {2, 2}, 1, "batch_dims", gather_nd},
    {"Scatter", 9, {3, 3}, 1, "axis", scatter_elements},
    {"ScatterElements", 11, {3, 3}, 1, "axis", scatter_elements},
    {"ScatterElements", 16, {3, 3}, 1, "axis reduction", scatter_elements},
    {"ScatterND", 11, {3, 3}, 1, "", scatter_nd},
    {"ScatterND", 16, {3, 3}, 1, "reduction", scatter_nd},
    {"TensorScatter", 24, {2, 3}, 1, "axis mode", tensor_scatter},
};

}  // namespace

std::span<const Rule> scatter_rules() { return rows_of_scatter; }

}  // namespace kiln::graph
