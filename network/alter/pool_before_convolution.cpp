// The mean of what a convolution of 1x1 makes of some pixels is what it makes of their mean. So averages are taken before it:
// over a window of 2x2 with strides, it has a quarter of the products, over a whole image one pixel's. Padding or strides of the
// convolution would move or leave out pixels, and an activation in between is not linear.
#include <algorithm>
#include <cstddef>

#include "network/alter/alteration.h"
#include "network/alter/plain_input.h"

namespace kiln::network {
namespace {

using namespace graph;

bool is_mean_of_image(const Reduce &reduce, size_t rank) {
    bool is_spatial = reduce.axes.size() + 2 == rank;
    for (size_t i = 0; i < reduce.axes.size(); i++) is_spatial = is_spatial && reduce.axes[i] == int(i) + 2;
    return is_spatial && reduce.kind == Reduce::Kind::mean;
}

bool has_bias(const Convolution &op) {
    return std::ranges::any_of(op.epilogue,
                               [](const EpilogueStep &step) { return step.kind == EpilogueStep::Kind::bias; });
}

// Padding that counts is zero behind the convolution, and its bias is not.
bool is_mean_of_pixels(const Pool &pool, const Convolution &of) {
    const bool is_padded = std::ranges::any_of(pool.padding, [](const Padding &p) { return p != Padding{}; });
    return pool.kind == Pool::Kind::average && !(is_padded && pool.counts_padding && has_bias(of));
}

bool is_mean(const Node &node, size_t rank, const Convolution &of) {
    if (const auto *reduce = std::get_if<Reduce>(&node.op)) return is_mean_of_image(*reduce, rank);
    const auto *pool = std::get_if<Pool>(&node.op);
    return pool && is_mean_of_pixels(*pool, of);
}

bool is_pointwise_and_linear(const GraphIndex &graph, const Node &node) {
    const auto &op = std::get<Convolution>(node.op);
    const Shape &weights = graph.shape(node.inputs[1]);
    const auto is_one = [](int64_t n) { return n == 1; };
    return std::all_of(weights.begin() + 2, weights.end(), is_one) && std::ranges::all_of(op.strides, is_one) &&
           std::ranges::all_of(op.input_dilation, is_one) && has_plain_input(op) &&
           std::ranges::all_of(op.padding, [](const Padding &padding) { return padding == Padding{}; }) &&
           std::ranges::all_of(op.epilogue,
                               [](const EpilogueStep &step) { return step.kind == EpilogueStep::Kind::bias; });
}

}  // namespace

std::vector<Patch> pool_before_convolution(const GraphIndex &graph, const Node &node) {
    if (node.inputs.empty()) return {};
    const ValueId image = node.inputs[0];
    const Shape &shape = graph.shape(image);
    const bool is_empty = std::ranges::count(shape, 0) > 0;
    const auto *op = graph.computed_by<Convolution>(image);
    if (is_empty || !op || !graph.is_read_by_one(image) || !is_mean(node, shape.size(), *op)) return {};
    const Node &convolution = *graph.producer(image);
    if (!is_pointwise_and_linear(graph, convolution)) return {};
    Patch patch(graph.graph());
    std::vector<ValueId> inputs = convolution.inputs;
    inputs[0] = patch.node(node.op, {inputs[0]}, {node.output});
    patch.replace(node.output, patch.node(*op, std::move(inputs), {image}));
    return {std::move(patch)};
}

}  // namespace kiln::network
