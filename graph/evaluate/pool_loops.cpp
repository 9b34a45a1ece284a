#include <algorithm>
#include <limits>

#include "graph/evaluate/least_values.h"
#include "graph/evaluate/operator_loops.h"
#include "graph/evaluate/walk.h"

namespace kiln::graph {
namespace {

// What a window holds along one axis, for one position of the result.
struct Reach {
    int64_t first, count;  // of its pixels
    int64_t padded;        // taps in the input and its padding
};

struct Axis {
    int64_t input, window, stride, dilation;
    Padding padding;

    Reach reach(int64_t position) const {
        const int64_t start = position * stride - padding.lo;
        const int64_t begin = taps_before(0, start), end = taps_before(input, start);
        return {start + begin * dilation, end - begin, taps_before(input + padding.hi, start)};
    }
    // How many taps from `start` on lie before a pixel.
    int64_t taps_before(int64_t pixel, int64_t start) const {
        return pixel <= start ? 0 : std::min(window, (pixel - start + dilation - 1) / dilation);
    }
};

std::vector<Axis> axes_of(const Pool &op, const Shape &x) {
    std::vector<Axis> axes;
    for (size_t d = 0; d + 2 < x.size(); d++) {
        axes.push_back({x[d + 2], op.window[d], op.strides[d], op.dilations[d], op.padding[d]});
    }
    return axes;
}

// Where the pixels of a window lie in a plane.
std::vector<int64_t> offsets_of(const std::vector<Axis> &axes, const std::vector<Reach> &reach) {
    Shape counts, inputs;
    for (size_t d = 0; d < axes.size(); d++) {
        counts.push_back(reach[d].count);
        inputs.push_back(axes[d].input);
    }
    const std::vector<int64_t> strides = row_major_strides(inputs);
    std::vector<int64_t> steps;
    int64_t first = 0;
    for (size_t d = 0; d < axes.size(); d++) {
        first += reach[d].first * strides[d];
        steps.push_back(reach[d].count > 1 ? strides[d] * axes[d].dilation : 0);
    }
    std::vector<int64_t> offsets(product(counts));
    Walk walk(counts, steps);
    for (int64_t &offset : offsets) {
        offset = first + walk.offset();
        walk.next();
    }
    return offsets;
}

// The pixels of a window lie at the same places in every plane, so they are found once.
struct Window {
    std::vector<int64_t> offsets;
    double padded = 1;  // taps in the input and its padding, perhaps more than an integer can count
};

template<typename T, typename F>
Status pool(const Pool &op, const Task &task, F value_of) {
    const Shape &x = task.shape(0), &y = task.result->form.shape;
    const std::vector<Axis> axes = axes_of(op, x);
    const Shape positions(y.begin() + 2, y.end());
    const int64_t planes = y[0] * y[1], input_plane = product({x.begin() + 2, x.end()}),
                  result_plane = product(positions);
    const auto &from = *std::get_if<std::vector<T>>(&task.inputs[0]->elements);
    auto &to = *std::get_if<std::vector<T>>(&task.result->elements);
    Walk walk(positions, row_major_strides(positions));
    for (int64_t at = 0; at < result_plane; at++, walk.next()) {
        std::vector<Reach> reach;
        Window window;
        for (size_t d = 0; d < axes.size(); d++) {
            reach.push_back(axes[d].reach(walk.position()[d]));
            window.padded *= static_cast<double>(reach.back().padded);
        }
        window.offsets = offsets_of(axes, reach);
        for (int64_t plane = 0; plane < planes; plane++) {
            if (task.interrupted()) return interrupted_error();
            to[plane * result_plane + at] = value_of(window, from.data() + plane * input_plane);
        }
    }
    return {};
}

template<typename T>
Status pool_maximum(const Pool &op, const Task &task) {
    const T nothing = least_value<T>(task.result->form.type);
    return pool<T>(op, task, [nothing](const Window &window, const T *plane) {
        T result = nothing;
        for (int64_t offset : window.offsets) result = largest(result, plane[offset]);
        return result;
    });
}

}  // namespace

Status compute(const Pool &op, const Task &task) {
    if (product(task.result->form.shape) == 0) return {};
    if (op.kind == Pool::Kind::maximum) {
        return is_float(task.result->form.type) ? pool_maximum<double>(op, task) : pool_maximum<int64_t>(op, task);
    }
    return pool<double>(op, task, [&](const Window &window, const double *plane) {
        double sum = 0;
        for (int64_t offset : window.offsets) sum += plane[offset];
        return sum / (op.counts_padding ? window.padded : static_cast<double>(window.offsets.size()));
    });
}

}  // namespace kiln::graph
