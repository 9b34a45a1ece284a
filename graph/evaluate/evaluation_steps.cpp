#include "graph/evaluate/evaluation_steps.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <variant>

#include "graph/evaluate/walk.h"

namespace kiln::graph {
namespace {

constexpr int64_t endless = std::numeric_limits<int64_t>::max();

// Of one element of the result. Extents are those of values, so their products fit.
struct StepsPerElement {
    const std::vector<TypedShape> &inputs;
    int64_t result_elements;

    int64_t operator()(const Convolution &) const {
        return product({inputs[1].shape.begin() + 1, inputs[1].shape.end()});
    }
    int64_t operator()(const MatrixProduct &) const { return inputs[0].shape.back(); }
    int64_t operator()(const Pool &pool) const {  // a window may be larger than all pixels that there are
        int64_t pixels = 1;
        for (size_t i = 0; i < pool.window.size(); ++i) {
            pixels *= std::min(pool.window[i], inputs[0].shape[i + 2]);
        }
        return pixels;
    }
    int64_t operator()(const Elementwise &e) const { return static_cast<int64_t>(e.expression.steps.size()); }
    int64_t operator()(const Reduce &) const {
        return product(inputs[0].shape) / std::max<int64_t>(result_elements, 1) + 1;
    }
    int64_t operator()(const Resample &resample) const {
        int64_t taps = 1;
        for (const Resample::Axis &axis : resample.axes) taps *= std::max(axis.taps, 1);
        return taps;
    }
    int64_t operator()(const auto &) const { return 4; }
};

}  // namespace

int64_t evaluation_steps(const Operator &op, const std::vector<TypedShape> &inputs, const Shape &result) {
    const int64_t elements = product(result);
    int64_t steps = 0;
    if (__builtin_mul_overflow(std::visit(StepsPerElement{inputs, elements}, op), elements, &steps)) return endless;
    for (const TypedShape &input : inputs) {
        if (__builtin_add_overflow(steps, product(input.shape), &steps)) return endless;
    }
    return steps;
}

}  // namespace kiln::graph
