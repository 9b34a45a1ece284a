// Taps at the ends of a convolution's window that meet nothing but padding are left out. Those of a dilation that is as large as the
// image do: a window of 3x3 becomes one of 1x1.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/passes.h"
#include "graph/rewriting/rewriting.h"

namespace kiln::graph {
namespace {

struct Taps {
    int64_t first = 0, count = 0;
};

// What a spatial axis of a convolution is about. `extent` is that of the input with holes.
struct Axis {
    int64_t extent, taps, stride, dilation;
    Padding padding;

    int64_t results() const {
        const int64_t places = extent + padding.lo + padding.hi - (taps - 1) * dilation;
        return places > 0 ? (places - 1) / stride + 1 : 0;
    }

    bool is_read(int64_t tap) const {
        const int64_t first = tap * dilation - padding.lo;  // where it reads for the first result
        const int64_t result = first >= 0 ? 0 : (-first + stride - 1) / stride;
        return result < results() && first + result * stride < extent;
    }

    // One at least.
    Taps used() const {
        Taps used{0, taps};
        while (used.count > 1 && !is_read(used.first)) used.first++, used.count--;
        while (used.count > 1 && !is_read(used.first + used.count - 1)) used.count--;
        return used;
    }
};

std::optional<ValueId> crop(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Convolution>(&node.op);
    if (!op || !graph.is_constant(node.inputs[1]) || !op->depthwise.empty()) return {};
    const Shape x = graph.shape(node.inputs[0]), weights = graph.shape(node.inputs[1]);
    Convolution cropped = *op;
    Resample part;
    for (size_t i = 0; i < op->strides.size(); i++) {
        const Axis axis{(x[i + 2] - 1) * op->input_dilation[i] + 1, weights[i + 2], op->strides[i], op->dilations[i],
                        op->padding[i]};
        const Taps used = axis.used();
        if (axis.results() == 0 || used.count == axis.taps) continue;
        std::vector<int64_t> indices;
        for (int64_t tap = 0; tap < used.count; tap++) indices.push_back(used.first + tap);
        part.axes.push_back({static_cast<int>(i) + 2, 1, std::move(indices), {}});
        if (used.count == 1) cropped.dilations[i] = 1;
        cropped.padding[i].lo -= used.first * axis.dilation;
        cropped.padding[i].hi -= (axis.taps - used.first - used.count) * axis.dilation;
    }
    if (part.axes.empty()) return {};
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] = graph.between(std::move(part), {inputs[1]});
    return graph.result(std::move(cropped), std::move(inputs));
}

}  // namespace

Graph crop_windows(const Graph &graph) { return rewrite(graph, crop); }

}  // namespace kiln::graph
