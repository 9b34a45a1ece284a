#include <algorithm>

#include "graph/evaluate/operator_loops.h"
#include "graph/evaluate/walk.h"

namespace kiln::graph {
namespace {

// Runs f(inputs' elements..., result's elements) for the kind that they have.
template<typename F>
Status with_elements(const Task &task, F f) {
    return std::visit([&](auto &to) { return f(to); }, task.result->elements);
}

template<typename T>
const std::vector<T> &input_like(const Task &task, size_t input, const std::vector<T> &) {
    return *std::get_if<std::vector<T>>(&task.inputs[input]->elements);
}

}  // namespace

Status compute(const Gather &op, const Task &task) {
    const Shape &shape = task.shape(0);
    const auto &indices = *std::get_if<std::vector<int64_t>>(&task.inputs[1]->elements);
    int64_t outer = 1, inner = 1;
    for (int axis = 0; axis < op.axis; axis++) outer *= shape[axis];
    for (size_t axis = size_t(op.axis) + 1; axis < shape.size(); axis++) inner *= shape[axis];
    const int64_t extent = shape[op.axis];
    return with_elements(task, [&](auto &to) -> Status {
        const auto &from = input_like(task, 0, to);
        auto row = to.begin();
        for (int64_t i = 0; i < outer; i++) {
            for (const int64_t index : indices) {
                const bool is_inside = index >= 0 && index < extent;
                if (is_inside) std::copy_n(from.begin() + (i * extent + index) * inner, inner, row);
                row += inner;
            }
        }
        return {};
    });
}

Status compute(const Transpose &op, const Task &task) {
    const std::vector<int64_t> strides = row_major_strides(task.shape(0));
    std::vector<int64_t> permuted;
    for (int axis : op.permutation) permuted.push_back(strides[axis]);
    return with_elements(task, [&](auto &to) -> Status {
        const auto &from = input_like(task, 0, to);
        Walk walk(task.result->form.shape, permuted);
        for (auto &element : to) {
            element = from[walk.offset()];
            walk.next();
        }
        return {};
    });
}

Status compute(const Reshape &, const Task &task) {
    task.result->elements = task.inputs[0]->elements;
    return {};
}

Status compute(const Concat &op, const Task &task) {
    const Shape &shape = task.result->form.shape;
    const int64_t outer = product({shape.begin(), shape.begin() + op.axis});
    const int64_t inner = product({shape.begin() + op.axis + 1, shape.end()});
    return with_elements(task, [&](auto &to) -> Status {
        auto *target = to.data();
        for (int64_t i = 0; i < outer; i++) {
            if (task.interrupted()) return interrupted_error();
            for (size_t input = 0; input < task.inputs.size(); input++) {
                const int64_t count = task.shape(input)[op.axis] * inner;
                target = std::copy_n(input_like(task, input, to).data() + i * count, count, target);
            }
        }
        return {};
    });
}

}  // namespace kiln::graph
