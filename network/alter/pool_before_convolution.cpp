// The mean over an image of what a convolution of 1x1 makes of it is what the convolution makes of the mean: as many products
// fewer as the image has pixels. Padding and strides would leave pixels out, and an activation in between is not linear.
#include <algorithm>
#include <cstddef>

#include "network/alter/alteration.h"

namespace kiln::network {
namespace {

using namespace graph;

bool is_mean_of_image(const GraphIndex &graph, const Node &node) {
    const Shape &shape = graph.shape(node.inputs[0]);
    if (const auto *reduce = std::get_if<Reduce>(&node.op)) {
        bool is_spatial = reduce->axes.size() + 2 == shape.size();
        for (size_t i = 0; i < reduce->axes.size(); i++) is_spatial = is_spatial && reduce->axes[i] == int(i) + 2;
        return is_spatial && reduce->kind == Reduce::Kind::mean;
    }
    const auto *pool = std::get_if<Pool>(&node.op);
    if (!pool || pool->kind != Pool::Kind::average) return false;
    const auto is_zero = [](const Padding &padding) { return padding == Padding{}; };
    return std::equal(pool->window.begin(), pool->window.end(), shape.begin() + 2, shape.end()) &&
           std::ranges::all_of(pool->padding, is_zero) &&
           std::ranges::all_of(pool->beyond, [](int64_t n) { return n == 0; }) &&
           std::ranges::all_of(pool->dilations, [](int64_t n) { return n == 1; });
}

bool is_pointwise_and_linear(const GraphIndex &graph, const Node &node) {
    const auto &op = std::get<Convolution>(node.op);
    const Shape &weights = graph.shape(node.inputs[1]);
    const auto is_one = [](int64_t n) { return n == 1; };
    return std::all_of(weights.begin() + 2, weights.end(), is_one) && std::ranges::all_of(op.strides, is_one) &&
           std::ranges::all_of(op.input_dilation, is_one) &&
           std::ranges::all_of(op.padding, [](const Padding &padding) { return padding == Padding{}; }) &&
           std::ranges::all_of(op.epilogue,
                               [](const EpilogueStep &step) { return step.kind == EpilogueStep::Kind::bias; });
}

}  // namespace

std::vector<Patch> pool_before_convolution(const GraphIndex &graph, const Node &node) {
    if (node.inputs.empty() || graph.shape(node.inputs[0]).size() < 3 || !is_mean_of_image(graph, node)) return {};
    const ValueId image = node.inputs[0];
    const Shape &shape = graph.shape(image);
    const bool is_empty = std::ranges::count(shape, 0) > 0;
    if (is_empty || !graph.computed_by<Convolution>(image) || !graph.is_read_by_one(image)) return {};
    const Node &convolution = *graph.producer(image);
    if (!is_pointwise_and_linear(graph, convolution)) return {};
    Patch patch(graph.graph());
    std::vector<ValueId> inputs = convolution.inputs;
    inputs[0] = patch.node(node.op, {inputs[0]}, {node.output});
    patch.replace(node.output, patch.node(convolution.op, std::move(inputs), {image}));
    return {std::move(patch)};
}

}  // namespace kiln::network
