#include "graph/lower/node/indices.h"

#include <algorithm>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"

namespace kiln::graph {
namespace {

bool takes_all(const std::vector<int64_t> &indices, int64_t extent) {
    if (static_cast<int64_t>(indices.size()) != extent) return false;
    for (int64_t i = 0; i < extent; i++) {
        if (indices[i] != i) return false;
    }
    return true;
}

}  // namespace

int64_t checked_count(const Shape &shape) { return value_or_refusal(element_count(shape)); }

void check_places(int64_t count) {
    if (count <= most_places) return;
    refuse("it takes elements of " + std::to_string(count) + " places, which is too many; kiln lists up to " +
           std::to_string(most_places) + " of one node: divide it into several");
}

void check_size(const Shape &result) { checked_count(result); }

std::vector<int64_t> index_range(int64_t first, int64_t count, int64_t step) {
    if (count > most_places) {
        refuse("it would give an axis " + std::to_string(count) + " places, which is too many; kiln lists up to " +
               std::to_string(most_places) + ": divide the axis");
    }
    std::vector<int64_t> indices(std::max<int64_t>(count, 0));
    for (size_t i = 0; i < indices.size(); i++) indices[i] = first + static_cast<int64_t>(i) * step;
    return indices;
}

ValueId counted_along(NodeLowering &node, int64_t extent, int axis, int rank, Element type) {
    Shape shape(static_cast<size_t>(rank), 1);
    shape[static_cast<size_t>(axis)] = extent;
    return node.constant({{type, shape}, index_range(0, extent)});
}

std::vector<int64_t> known_indices(const NodeLowering &node, int input) {
    check_places(node.elements(node.input(input)));
    return node.known_integers(input, "indices");
}

Expression counted_from_first(const Expression &index, Element type, int64_t extent) {
    const NumbersOf number{type};
    return select(less(index, number(0)), index + number(static_cast<double>(extent)), index);
}

ValueId take(NodeLowering &node, ValueId x, std::vector<IndexedAxis> axes, double fill) {
    const Shape shape = node.shape(x);
    std::ranges::sort(axes, {}, &IndexedAxis::axis);
    Resample op{.fill = fill};
    for (IndexedAxis &axis : axes) {
        if (takes_all(axis.indices, shape[axis.axis])) continue;
        op.axes.push_back({.axis = axis.axis, .indices = std::move(axis.indices)});
    }
    return op.axes.empty() ? x : node.add(std::move(op), {x});
}

}  // namespace kiln::graph
