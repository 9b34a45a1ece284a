#include "graph/evaluate/operator_loops.h"
#include "graph/evaluate/walk.h"

namespace kiln::graph {
namespace {

// Strides of the axes before the innermost two, 0 where the axis is repeated.
std::vector<int64_t> batch_strides(const Shape &shape, const Shape &result) {
    const std::vector<int64_t> strides = row_major_strides(shape);
    std::vector<int64_t> aligned(result.size() - 2, 0);
    const size_t missing = result.size() - shape.size();
    for (size_t i = 0; i + 2 < shape.size(); i++) {
        if (shape[i] != 1) aligned[missing + i] = strides[i];
    }
    return aligned;
}

// Unsigned for integers, which wrap around.
template<typename T, typename Sum>
Status multiply(const Task &task) {
    const auto &a = *std::get_if<std::vector<T>>(&task.inputs[0]->elements);
    const auto &b = *std::get_if<std::vector<T>>(&task.inputs[1]->elements);
    auto &y = *std::get_if<std::vector<T>>(&task.result->elements);
    const Shape &shape = task.result->form.shape;
    const int64_t columns = shape.back(), rows = shape[shape.size() - 2], depth = task.shape(0).back();
    const Shape batch(shape.begin(), shape.end() - 2);
    Walk walk_a(batch, batch_strides(task.shape(0), shape)), walk_b(batch, batch_strides(task.shape(1), shape));
    std::vector<Sum> sums(columns);
    const int64_t matrices = product(batch);
    for (int64_t matrix = 0; matrix < matrices; matrix++, walk_a.next(), walk_b.next()) {
        for (int64_t row = 0; row < rows; row++) {
            if (task.interrupted()) return interrupted_error();
            std::fill(sums.begin(), sums.end(), Sum{0});
            for (int64_t k = 0; k < depth; k++) {
                const auto factor = static_cast<Sum>(a[walk_a.offset() + row * depth + k]);
                const T *from = b.data() + walk_b.offset() + k * columns;
                for (int64_t column = 0; column < columns; column++) {
                    sums[column] += factor * static_cast<Sum>(from[column]);
                }
            }
            T *to = y.data() + (matrix * rows + row) * columns;
            for (int64_t column = 0; column < columns; column++) to[column] = static_cast<T>(sums[column]);
        }
    }
    return {};
}

}  // namespace

Status compute(const MatrixProduct &, const Task &task) {
    if (product(task.result->form.shape) == 0) return {};
    const Element type = task.result->form.type;
    if (is_float(type)) return multiply<double, double>(task);
    if (Status s = multiply<int64_t, uint64_t>(task); !s) return s;
    for (int64_t &element : *std::get_if<1>(&task.result->elements)) element = wrapped(type, element);
    return {};
}

}  // namespace kiln::graph
