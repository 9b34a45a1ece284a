#include <algorithm>

#include "graph/evaluate/operator_loops.h"
#include "graph/evaluate/walk.h"

namespace kiln::graph {
namespace {

// One axis of a tensor: `outer` times `extent` rows of `inner` elements.
struct AxisView {
    int64_t outer = 1, extent = 1, inner = 1;

    AxisView(const Shape &shape, int axis) : extent(shape[axis]) {
        for (int i = 0; i < axis; i++) outer *= shape[i];
        for (size_t i = axis + 1; i < shape.size(); i++) inner *= shape[i];
    }
};

template<typename T>
void add_row(const T *from, double weight, int64_t count, T *to) {
    if constexpr (std::is_same_v<T, double>) {
        for (int64_t i = 0; i < count; i++) to[i] += weight * from[i];
    }
}

// What is outside stays 0 here.
template<typename T>
Result<std::vector<T>> resampled(const std::vector<T> &from, const AxisView &view, const Resample::Axis &axis,
                                 const Interrupted &interrupted) {
    const int64_t rows = static_cast<int64_t>(axis.indices.size()) / axis.taps;
    std::vector<T> to(view.outer * rows * view.inner);
    for (int64_t outer = 0; outer < view.outer; outer++) {
        if (interrupted()) return interrupted_error();
        for (int64_t i = 0; i < rows * axis.taps; i++) {
            if (axis.indices[i] == Resample::outside) continue;
            const T *source = from.data() + (outer * view.extent + axis.indices[i]) * view.inner;
            T *target = to.data() + (outer * rows + i / axis.taps) * view.inner;
            if (axis.weights.empty()) {
                std::copy_n(source, view.inner, target);
            } else {
                add_row(source, axis.weights[i], view.inner, target);
            }
        }
    }
    return to;
}

template<typename T>
void fill_outside(const Resample &op, const Shape &shape, std::vector<T> *elements) {
    for (const Resample::Axis &axis : op.axes) {
        const AxisView view(shape, axis.axis);
        for (size_t i = 0; i < axis.indices.size(); i++) {
            if (axis.indices[i] != Resample::outside) continue;
            for (int64_t outer = 0; outer < view.outer; outer++) {
                T *row = elements->data() + (outer * view.extent + static_cast<int64_t>(i) / axis.taps) * view.inner;
                std::fill_n(row, view.inner, static_cast<T>(op.fill));
            }
        }
    }
}

template<typename T>
Status resample(const Resample &op, const Task &task) {
    Shape shape = task.shape(0);
    auto &to = *std::get_if<std::vector<T>>(&task.result->elements);
    to = *std::get_if<std::vector<T>>(&task.inputs[0]->elements);
    for (const Resample::Axis &axis : op.axes) {
        const AxisView view(shape, axis.axis);
        shape[axis.axis] = static_cast<int64_t>(axis.indices.size()) / axis.taps;
        if (Status s = check_size(product(shape)); !s) return s;
        auto step = resampled(to, view, axis, task.interrupted);
        if (!step) return step.error();
        to = std::move(*step);
    }
    fill_outside(op, shape, &to);
    return {};
}

}  // namespace

Status compute(const Resample &op, const Task &task) {
    return is_float(task.result->form.type) ? resample<double>(op, task) : resample<int64_t>(op, task);
}

}  // namespace kiln::graph
