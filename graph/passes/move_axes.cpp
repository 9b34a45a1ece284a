// Transposes and reshapes move toward the outputs, so that pairs meet and vanish, and nothing stands between a convolution and
// what its epilogue can take.
//
// What is left for the step that chooses layouts: a Transpose that moves elements stands behind an input, a convolution, a
// pool, a matrix product or a reshape that mixes its axes, or in front of one of these or of an output. All shapes are logical,
// so a model with channels innermost has transposes around its convolutions: they move nothing where the layout in memory is
// the same on both sides.
#include <algorithm>
#include <array>

#include "graph/passes/axes/axis_rules.h"
#include "graph/passes/passes.h"
#include "graph/passes/quantization/quantized_values.h"

namespace kiln::graph {
namespace {

int64_t moved_elements(const Graph &graph) {
    int64_t elements = 0;
    for (const Node &node : graph.nodes) {
        if (std::holds_alternative<Transpose>(node.op)) {
            elements += *element_count(graph.values[node.output].form.shape);
        }
    }
    return elements;
}

Graph moved(const Graph &graph, bool sole_uses) {
    return rewrite(graph, [&](Rewriting &r, const Node &node) -> std::optional<ValueId> {
        if (auto id = join_axis_changes(r, node)) return id;
        if (auto id = sink_reshape(r, node)) return id;
        return sink_transpose(r, node, sole_uses);
    });
}

}  // namespace

Graph move_axes(const Graph &graph) {
    // Where a transposed value has several users, the transpose goes behind all of them or stays: whichever moves fewer
    // elements in the whole graph.
    const Graph careful = moved(graph, true), everywhere = moved(careful, false);
    return moved_elements(everywhere) < moved_elements(careful) ? everywhere : careful;
}

Graph move_quantized_axes(const Graph &graph) { return has_quantization(graph) ? move_axes(graph) : graph; }

}  // namespace kiln::graph
