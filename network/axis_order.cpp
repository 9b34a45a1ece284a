#include "network/axis_order.h"

#include <algorithm>
#include <utility>

namespace kiln::network {

Order row_major(size_t axes) { return graph::row_major_order(axes); }

Order channels_last(size_t axes) {
    Order order = row_major(axes);
    if (axes > 2) std::rotate(order.axes.begin() + 1, order.axes.begin() + 2, order.axes.end());
    return order;
}

Order in_blocks(size_t axes, int64_t block) {
    Order order = row_major(axes);
    order.axes.push_back(1);
    order.block = block;
    return order;
}

Order kernel_order(size_t axes) {
    Order order = row_major(axes);
    std::rotate(order.axes.begin(), order.axes.begin() + 2, order.axes.end());
    std::swap(order.axes[axes - 2], order.axes[axes - 1]);
    return order;
}

bool lie_alike(const Order &a, const Order &b, const graph::Shape &shape) {
    return graph::wide_loops(shape, a) == graph::wide_loops(shape, b);
}

bool fits(const Order &order, const graph::Shape &shape) {
    if (order.block == 0) return order.axes.size() == shape.size();
    return order.axes.size() == shape.size() + 1 && shape[size_t(order.axes.back())] % order.block == 0;
}

ActivationLayout layout_of(const Order &order, const graph::Shape &shape) {
    using Kind = ActivationLayout::Kind;
    if (lie_alike(order, channels_last(shape.size()), shape)) return {Kind::nhwc};
    return order.block > 0 ? ActivationLayout{Kind::nchwc, int(order.block)} : ActivationLayout{Kind::nchw};
}

Order reordered(const graph::Shape &shape, const Order &order, const graph::Shape &other) {
    const graph::Shape steps = graph::row_major_strides(shape), other_steps = graph::row_major_strides(other);
    std::vector<size_t> places(other.size(), 0);
    for (size_t axis = 0; axis < other.size(); axis++) {
        for (size_t place = 0; place < order.axes.size(); place++) {
            const int64_t step = steps[order.axes[place]], extent = shape[order.axes[place]];
            const int64_t digit = other_steps[axis] * other[axis];  // just above the outermost digit
            if (extent > 1 && other[axis] > 1 && digit > step && digit <= step * extent) places[axis] = place;
        }
    }
    Order result = row_major(other.size());
    std::ranges::stable_sort(result.axes, {}, [&](int axis) { return places[axis]; });
    return result;
}

Order permuted(const Order &order, const std::vector<int> &permutation) {
    Order result{{}, order.block};
    for (const int axis : order.axes) {
        result.axes.push_back(static_cast<int>(std::ranges::find(permutation, axis) - permutation.begin()));
    }
    return result;
}

}  // namespace kiln::network
