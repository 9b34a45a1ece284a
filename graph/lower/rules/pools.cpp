// Pools over windows, over whole planes and over regions.
#include <cmath>
#include <numeric>

#include "graph/lower/composed/roi_align.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"
#include "graph/lower/rules/window.h"

namespace kiln::graph {
namespace {

Pool pool_over(const NodeLowering &node, ValueId x, Pool::Kind kind) {
    const Window window = window_of_pool(node, x, node.opset() < 19 ? Lacking::padding : Lacking::beyond);
    return {.kind = kind,
            .window = window.extents,
            .strides = window.strides,
            .dilations = window.dilations,
            .padding = window.padding,
            .beyond = window.beyond};
}

Pool pool(const NodeLowering &node, Pool::Kind kind) { return pool_over(node, node.input(0), kind); }

void max_pool(NodeLowering &node) { node.result(node.add(pool(node, Pool::Kind::maximum), {node.input(0)})); }

void max_pool_of_channels_last(NodeLowering &node) {
    const ValueId x = with_channels_first(node, node.input(0));
    node.result(with_channels_last(node, node.add(pool_over(node, x, Pool::Kind::maximum), {x})));
}

void average_pool(NodeLowering &node) {
    Pool op = pool(node, Pool::Kind::average);
    op.counts_padding = node.attributes.flag("count_include_pad", false);
    node.result(node.add(std::move(op), {node.input(0)}));
}

// (sum of |x|^p)^(1/p), where `sum` adds up what it is given.
template<typename Sum>
ValueId norm(NodeLowering &node, double p, const Sum &sum) {
    const ValueId x = node.input(0);
    const NumbersOf number{node.type(x)};
    if (!(p > 0) || std::isinf(p)) reject("its attribute 'p' is " + std::to_string(p) + ", which must be positive");
    if (p == 1) return sum(node.elementwise(absolute(operand(0)), {x}));
    if (p == 2) {
        const ValueId squares = node.elementwise(operand(0) * operand(0), {x});
        return node.elementwise(square_root(operand(0)), {sum(squares)});
    }
    const ValueId powers = node.elementwise(power(absolute(operand(0)), number(p)), {x});
    return node.elementwise(power(operand(0), number(1 / p)), {sum(powers)});
}

double norm_exponent(const NodeLowering &node) {
    return node.opset() < 2 ? node.attributes.real("p", 2) : static_cast<double>(node.attributes.integer("p", 2));
}

// A sum over windows is their average times their size, where all that they cover counts as zeros.
void lp_pool(NodeLowering &node) {
    Pool op = pool(node, Pool::Kind::average);
    op.counts_padding = true;
    double size = 1;
    for (size_t d = 0; d < op.window.size(); d++) {
        op.padding[d].hi += op.beyond[d];
        op.beyond[d] = 0;
        size *= static_cast<double>(op.window[d]);
    }
    const auto sum = [&](ValueId x) {
        const NumbersOf number{node.type(x)};
        return node.elementwise(operand(0) * number(size), {node.add(op, {x})});
    };
    node.result(norm(node, norm_exponent(node), sum));
}

std::vector<int> spatial_axes(const NodeLowering &node) {
    const int rank = node.rank(node.input(0));
    if (rank < 2) reject("its input of shape " + to_text(node.shape(node.input(0))) + " has no axes N and C");
    std::vector<int> axes(rank - 2);
    std::iota(axes.begin(), axes.end(), 2);
    return axes;
}

template<Reduce::Kind kind>
void global_pool(NodeLowering &node) {
    node.result(node.add(Reduce{.kind = kind, .axes = spatial_axes(node)}, {node.input(0)}));
}

void global_lp_pool(NodeLowering &node) {
    const auto sum = [&](ValueId x) { return node.add(Reduce{Reduce::Kind::sum, spatial_axes(node)}, {x}); };
    node.result(norm(node, norm_exponent(node), sum));
}

// x / (bias + alpha * mean of the squares of neighbouring channels)^beta. Channels become the spatial axis of a pool.
void local_response_normalization(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    const int64_t size = node.attributes.integer("size");
    if (shape.size() < 2) reject("its input of shape " + to_text(shape) + " has no axes N and C");
    if (size < 1 || size > most_elements) reject("its attribute 'size' is " + std::to_string(size));
    Shape planes{shape[0], 1, shape[1], 1};
    for (size_t d = 2; d < shape.size(); d++) planes[3] *= shape[d];
    const Pool neighbours{.kind = Pool::Kind::average,
                          .window = {size, 1},
                          .strides = {1, 1},
                          .dilations = {1, 1},
                          .padding = {{(size - 1) / 2, size / 2}, {0, 0}},
                          .beyond = {0, 0},
                          .counts_padding = true};
    const ValueId squares = node.reshape(node.elementwise(operand(0) * operand(0), {x}), planes);
    const ValueId means = node.reshape(node.add(neighbours, {squares}), shape);
    const Attributes &a = node.attributes;
    const NumbersOf number{node.type(x)};
    const Expression base = number(a.real("bias", 1)) + number(a.real("alpha", 1e-4f)) * operand(1);
    node.result(node.elementwise(operand(0) / power(base, number(a.real("beta", 0.75))), {x, means}));
}

constexpr Rule rows_of_pool[] = {
    {"AveragePool", 1, {1, 1}, 1, "auto_pad kernel_shape pads strides", average_pool},
    {"AveragePool", 7, {1, 1}, 1, "auto_pad count_include_pad kernel_shape pads strides", average_pool},
    {"AveragePool", 10, {1, 1}, 1, "auto_pad ceil_mode count_include_pad kernel_shape pads strides", average_pool},
    {"AveragePool",
     19,
     {1, 1},
     1,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides",
     average_pool},
    {"GlobalAveragePool", 1, {1, 1}, 1, "", global_pool<Reduce::Kind::mean>},
    {"GlobalLpPool", 1, {1, 1}, 1, "p", global_lp_pool},
    {"GlobalMaxPool", 1, {1, 1}, 1, "", global_pool<Reduce::Kind::maximum>},
    {"LRN", 1, {1, 1}, 1, "alpha beta bias size", local_response_normalization},
    {"LpPool", 1, {1, 1}, 1, "auto_pad kernel_shape p pads strides", lp_pool},
    {"LpPool", 18, {1, 1}, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides", lp_pool},
    {"MaxPool", 1, {1, 1}, 1, "auto_pad kernel_shape pads strides", max_pool},
    {"MaxPool", 8, {1, 1}, 2, "auto_pad kernel_shape pads storage_order strides", max_pool},
    {"MaxPool", 10, {1, 1}, 2, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides", max_pool},
    {"NhwcMaxPool",
     1,
     {1, 1},
     1,
     "auto_pad ceil_mode dilations kernel_shape pads strides",
     max_pool_of_channels_last,
     microsoft},
    {"RoiAlign", 10, {3, 3}, 1, "mode output_height output_width sampling_ratio spatial_scale", roi_align},
    {"RoiAlign",
     16,
     {3, 3},
     1,
     "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale",
     roi_align},
};

}  // namespace

std::span<const Rule> pool_rules() { return rows_of_pool; }

}  // namespace kiln::graph
