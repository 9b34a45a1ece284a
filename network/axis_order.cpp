#include "network/axis_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kiln::network {
namespace {

Order without_single(Order order, const graph::Shape &shape) {
    std::erase_if(order, [&](int axis) { return shape[axis] == 1; });
    return order;
}

}  // namespace

Order row_major(size_t axes) {
    Order order(axes);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

Order channels_last(size_t axes) {
    Order order = row_major(axes);
    if (axes > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    return order;
}

Order kernel_order(size_t axes) {
    Order order = row_major(axes);
    std::rotate(order.begin(), order.begin() + 2, order.end());
    std::swap(order[axes - 2], order[axes - 1]);
    return order;
}

bool lie_alike(const Order &a, const Order &b, const graph::Shape &shape) {
    return without_single(a, shape) == without_single(b, shape);
}

Order reordered(const graph::Shape &shape, const Order &order, const graph::Shape &other) {
    const graph::Shape steps = graph::row_major_strides(shape), other_steps = graph::row_major_strides(other);
    std::vector<size_t> places(other.size(), 0);
    for (size_t axis = 0; axis < other.size(); axis++) {
        for (size_t place = 0; place < order.size(); place++) {
            const int64_t step = steps[order[place]], extent = shape[order[place]];
            const int64_t digit = other_steps[axis] * other[axis];  // just above the outermost digit
            if (extent > 1 && other[axis] > 1 && digit > step && digit <= step * extent) places[axis] = place;
        }
    }
    Order result = row_major(other.size());
    std::ranges::stable_sort(result, {}, [&](int axis) { return places[axis]; });
    return result;
}

Order permuted(const Order &order, const std::vector<int> &permutation) {
    Order result;
    for (const int axis : order) {
        result.push_back(static_cast<int>(std::ranges::find(permutation, axis) - permutation.begin()));
    }
    return result;
}

}  // namespace kiln::network
