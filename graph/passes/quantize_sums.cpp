// Convolutions and matrix products of dequantized numbers are computed with the stored ones: their sums are exact in i32, and
// are multiplied by both scales behind them. So are averages.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/convolution_inputs.h"
#include "graph/passes/passes.h"
#include "graph/passes/product_convolution.h"
#include "graph/passes/quantization/activation_products.h"
#include "graph/passes/quantization/integer_convolution.h"
#include "graph/passes/quantization/integer_sums.h"
#include "graph/passes/quantization/quantized_averages.h"
#include "graph/quantized_forms.h"
#include "workload/quantization/quantization.h"

namespace kiln::graph {
namespace {

using StepKind = EpilogueStep::Kind;

// The numbers of a bias, which may be dequantized: nothing where it is known only when the network runs.
std::optional<std::vector<double>> bias_numbers(const Rewriting &graph, ValueId id) {
    const Shape shape = graph.shape(id);
    const auto stored = dequantized(graph, id);
    auto numbers = along_axis(graph, stored ? stored->stored : id, 0, shape);
    if (!numbers || !stored) return numbers;
    const auto scales = along_axis(graph, stored->by.scale, 0, shape);
    if (!scales) return {};
    if (stored->by.zero_point) {
        const auto zero_points = along_axis(graph, *stored->by.zero_point, 0, shape);
        if (!zero_points) return {};
        for (size_t o = 0; o < numbers->size(); o++) (*numbers)[o] -= (*zero_points)[o];
    }
    for (size_t o = 0; o < numbers->size(); o++) (*numbers)[o] *= (*scales)[o];
    return numbers;
}

std::optional<ValueId> quantized_convolution(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Convolution>(&node.op);
    if (!op || graph.value(node.inputs[0]).form.type != Element::f32 || op->epilogue.size() > 1) return {};
    if (!op->epilogue.empty() && op->epilogue[0].kind != StepKind::bias) return {};
    const auto x = quantized_input(graph, node.inputs[0]);
    const auto w = quantized_weights(graph, node.inputs[1], 0);
    if (!x || !w) return {};
    const Shape weights = graph.shape(w->stored);
    const int64_t products = products_of(weights);
    const bool is_wide = are_wide(graph, *w);
    if (weights.size() > 5 || !fits_sums(products, is_wide)) return {};
    IntegerConvolution sums{*x, *w};
    std::optional<ValueId> addend;
    if (!op->epilogue.empty()) {
        const auto numbers = bias_numbers(graph, node.inputs[2]);
        const auto whole =
            numbers ? whole_biases(*numbers, sums.units(), largest_bias(products, is_wide)) : std::nullopt;
        if (whole) {
            sums.biases = *whole;
        } else {
            addend = graph.between(Reshape{beside_channels(weights[0], weights.size())}, {node.inputs[2]});
        }
    }
    const ValueId integers_ = sums.add(graph, *op, x->stored, w->stored);
    const ValueId units = floats(graph, beside_channels(weights[0], weights.size()), sums.units());
    Expression number = apply(Function::multiply, cast(operand(0), Element::f32), operand(1));
    std::vector<ValueId> inputs{integers_, units};
    if (addend) {
        number = apply(Function::add, std::move(number), operand(2));
        inputs.push_back(*addend);
    }
    return graph.result(Elementwise{std::move(number), graph.shape(integers_)}, std::move(inputs));
}

// A dequantized product, one operand of which is a matrix of weights.
std::optional<ValueId> dequantized_product(Rewriting &graph, const Node &node) {
    const auto a = dequantized(graph, node.inputs[0]), b = dequantized(graph, node.inputs[1]);
    if (!a || !b) return {};
    const auto side = constant_matrix(graph, a->stored, b->stored);
    if (!side) return {};
    const bool is_right = *side == ConstantMatrix::right;
    const ValueId matrix = node.inputs[is_right ? 1 : 0];
    const Shape &shape = graph.shape(matrix);
    const int last = static_cast<int>(shape.size()) - 1;
    const auto w = quantized_weights(graph, matrix, is_right ? last : last - 1);
    const auto x = quantized_input(graph, node.inputs[is_right ? 0 : 1]);
    if (!w || !x || !fits_sums(is_right ? shape[last - 1] : shape[last], are_wide(graph, *w))) return {};
    const IntegerConvolution sums{*x, *w};
    return convolved_product(
        graph, a->stored, b->stored, [&](Rewriting &now, const Convolution &op, ValueId stored, ValueId weights) {
            const ValueId total = sums.add(now, op, stored, weights);
            const Shape form = now.shape(total);
            const ValueId units = floats(now, beside_channels(form[1], form.size()), sums.units());
            return now.between(Elementwise{apply(Function::multiply, cast(operand(0), Element::f32), operand(1)), form},
                               {total, units});
        });
}

// An operand of a product in i32.
std::optional<Offset> offset(const Rewriting &graph, ValueId id) {
    const auto *op = graph.computed_by<Elementwise>(id);
    if (!op || !is_without_zero_point(*op)) return {};
    const Node &node = *graph.producer(id);
    if (!is_quantized(graph.value(node.inputs[0]).form.type) || graph.shape(node.inputs[0]) != op->shape) return {};
    return Offset{node.inputs[0], node.inputs[1]};
}

// Of two activations.
std::optional<ValueId> product_in_floats(Rewriting &graph, const Offset &a, const Offset &b) {
    if (!is_exact_in_floats(graph, a, b)) return {};
    const ValueId sums = product_of_offsets(graph, a, b);
    return graph.result(Elementwise{cast(operand(0), Element::i32), graph.shape(sums)}, {sums});
}

std::optional<ValueId> integer_product(Rewriting &graph, const Node &node) {
    const auto a = offset(graph, node.inputs[0]), b = offset(graph, node.inputs[1]);
    if (!a || !b) return {};
    const auto side = constant_matrix(graph, a->stored, b->stored);
    if (!side) return product_in_floats(graph, *a, *b);
    const bool is_right = *side == ConstantMatrix::right;
    const Offset &x = is_right ? *a : *b, &w = is_right ? *b : *a;
    const Shape matrix = graph.shape(w.stored);
    const int last = static_cast<int>(matrix.size()) - 1, channels = is_right ? last : last - 1;
    QuantizedWeights weights{w.stored, {}, {}};
    const auto points = along_axis(graph, w.zero_point, channels, matrix);
    if (!points) return {};
    if (std::ranges::any_of(*points, [](double number) { return number != 0; }))
        weights.zero_points.assign(points->begin(), points->end());
    if (!fits_sums(matrix[is_right ? last - 1 : last], are_wide(graph, weights))) return {};
    // The input's zero point may be known only when the network runs.
    if (*element_count(graph.shape(x.zero_point)) != 1) return {};
    ValueId point =
        graph.between(Elementwise{cast(operand(0), Element::i32), graph.shape(x.zero_point)}, {x.zero_point});
    point = graph.between(Reshape{{1}}, {point});
    return convolved_product(graph, a->stored, b->stored,
                             [&](Rewriting &now, Convolution op, ValueId stored, ValueId kernel) {
                                 std::vector<ValueId> inputs{stored, kernel, point};
                                 if (!weights.zero_points.empty()) {
                                     op.kernel_zero_point = true;
                                     inputs.push_back(integers(now, weights.zero_points));
                                 }
                                 return now.between(std::move(op), std::move(inputs));
                             });
}

std::optional<ValueId> quantize(Rewriting &graph, const Node &node) {
    if (auto id = quantized_convolution(graph, node)) return id;
    if (auto id = quantized_average(graph, node)) return id;
    if (!std::holds_alternative<MatrixProduct>(node.op)) return {};
    if (auto id = dequantized_product(graph, node)) return id;
    if (auto id = product_of_activations(graph, node)) return id;
    return integer_product(graph, node);
}

}  // namespace

Graph quantize_sums(const Graph &graph) { return has_quantization(graph) ? rewrite(graph, quantize) : graph; }

}  // namespace kiln::graph
