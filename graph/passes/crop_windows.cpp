// Taps at the ends of a convolution's window that meet nothing but padding are left out. Those of a dilation that is as large as the
// image do: a window of 3x3 becomes one of 1x1.
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/passes.h"
#include "graph/rewriting/rewriting.h"
#include "graph/window_axis.h"

namespace kiln::graph {
namespace {

std::optional<ValueId> crop(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Convolution>(&node.op);
    if (!op || !graph.is_constant(node.inputs[1]) || !op->depthwise.empty()) return {};
    const auto axes = window_axes(*op, graph.shape(node.inputs[0]), graph.shape(node.inputs[1]));
    Convolution cropped = *op;
    Resample part;
    for (size_t d = 0; d < axes.size(); d++) {
        const WindowAxis &axis = axes[d];
        const TapRange used = axis.used_taps();
        if (axis.results() == 0 || used.count == axis.taps) continue;
        part.axes.push_back(part_of_taps(d, used));
        if (used.count == 1) cropped.dilations[d] = 1;
        cropped.padding[d].lo -= used.first * axis.dilation;
        cropped.padding[d].hi -= (axis.taps - used.first - used.count) * axis.dilation;
    }
    if (part.axes.empty()) return {};
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] = graph.between(std::move(part), {inputs[1]});
    return graph.result(std::move(cropped), std::move(inputs));
}

}  // namespace

Graph crop_windows(const Graph &graph) { return rewrite(graph, crop); }

}  // namespace kiln::graph
