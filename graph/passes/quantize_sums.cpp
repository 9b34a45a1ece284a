// Convolutions and matrix products of dequantized numbers are computed with the stored ones: their sums are exact in i32, and are
// multiplied by both scales behind them. So are averages, whose weights are 1.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graph/convolution_inputs.h"
#include "graph/passes/passes.h"
#include "graph/passes/product_convolution.h"
#include "graph/passes/quantization/integer_sums.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

using StepKind = EpilogueStep::Kind;

constexpr int64_t most_taps = 1 << 16;  // of a window along one axis

Expression times(Expression a, Expression b) { return apply(Function::multiply, std::move(a), std::move(b)); }

int64_t product(const Shape &shape, size_t first) {
    return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end(), int64_t{1},
                           std::multiplies<>());
}

// A number for each channel beside values of N, C, spatial...
Shape beside_channels(int64_t channels, size_t axes) {
    Shape shape(axes, 1);
    shape[1] = channels;
    return shape;
}

// The sums of stored numbers as a convolution in i32.
struct IntegerSums {
    QuantizedInput x;
    QuantizedWeights w;
    std::vector<int64_t> biases = {};  // empty: none

    std::vector<double> units() const {
        std::vector<double> result = w.scales;
        for (double &unit : result) unit *= x.by.scale;
        return result;
    }

    ValueId add(Rewriting &graph, Convolution op, ValueId stored, ValueId weights) const {
        const auto channels = static_cast<size_t>(graph.shape(weights)[0]);
        std::vector<ValueId> inputs{stored, weights, integers(graph, {x.by.zero_point})};
        op.epilogue.clear();
        if (!w.zero_points.empty()) {
            op.kernel_zero_point = true;
            inputs.push_back(integers(graph, w.zero_points));
        }
        if (!biases.empty() && biases.size() == channels) {
            op.epilogue.push_back({StepKind::bias});
            inputs.push_back(integers(graph, biases));
        }
        return graph.between(std::move(op), std::move(inputs));
    }
};

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

std::optional<ValueId> convolution(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Convolution>(&node.op);
    if (!op || graph.value(node.inputs[0]).form.type != Element::f32 || op->epilogue.size() > 1) return {};
    if (!op->epilogue.empty() && op->epilogue[0].kind != StepKind::bias) return {};
    const auto x = quantized_input(graph, node.inputs[0]);
    const auto w = quantized_weights(graph, node.inputs[1], 0);
    if (!x || !w) return {};
    const Shape weights = graph.shape(w->stored);
    const int64_t products = product(weights, 1);
    const bool is_wide = are_wide(graph, *w);
    if (weights.size() > 5 || !fits_sums(products, is_wide)) return {};
    IntegerSums sums{*x, *w};
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
    Expression number = times(cast(operand(0), Element::f32), operand(1));
    std::vector<ValueId> inputs{integers_, units};
    if (addend) {
        number = apply(Function::add, std::move(number), operand(2));
        inputs.push_back(*addend);
    }
    return graph.result(Elementwise{std::move(number), graph.shape(integers_)}, std::move(inputs));
}

// Averages over windows and over all spatial axes as sums of taps.
struct Average {
    Convolution op;
    Shape window;
    std::vector<std::vector<double>> counts = {};  // taps that each position of a spatial axis counts
};

// Taps of each window along one spatial axis that lie in the input, or in its padding where that counts.
std::vector<double> counted_taps(const Pool &pool, size_t d, int64_t input) {
    const int64_t lo = pool.padding[d].lo, hi = pool.padding[d].hi;
    const int64_t reach = (pool.window[d] - 1) * pool.dilations[d] + 1;
    const int64_t begin = pool.counts_padding ? -lo : 0, end = pool.counts_padding ? input + hi : input;
    std::vector<double> counts;
    for (int64_t start = -lo; start + reach <= input + hi + pool.beyond[d]; start += pool.strides[d]) {
        int64_t count = 0;
        for (int64_t tap = 0; tap < pool.window[d]; tap++) {
            const int64_t at = start + tap * pool.dilations[d];
            count += at >= begin && at < end;
        }
        counts.push_back(static_cast<double>(count));
    }
    return counts;
}

std::optional<Average> average(const Rewriting &graph, const Node &node) {
    const Shape &shape = node.inputs.empty() ? Shape() : graph.shape(node.inputs[0]);
    if (shape.size() < 3 || shape.size() > 5) return {};
    Average result;
    const size_t rank = shape.size() - 2;
    result.op.input_dilation.assign(rank, 1);
    result.op.groups = shape[1];
    if (const auto *pool = std::get_if<Pool>(&node.op)) {
        if (pool->kind != Pool::Kind::average) return {};
        result.op.strides = pool->strides, result.op.dilations = pool->dilations, result.op.padding = pool->padding;
        result.window = pool->window;
        for (size_t d = 0; d < rank; d++) {
            if (pool->window[d] > most_taps || shape[d + 2] > most_taps) return {};
            result.op.padding[d].hi += pool->beyond[d];
            result.counts.push_back(counted_taps(*pool, d, shape[d + 2]));
        }
        return result;
    }
    const auto *reduce = std::get_if<Reduce>(&node.op);
    if (!reduce || reduce->kind != Reduce::Kind::mean) return {};
    std::vector<int> spatial(rank);
    std::iota(spatial.begin(), spatial.end(), 2);
    if (reduce->axes != spatial) return {};
    result.op.strides.assign(rank, 1), result.op.dilations.assign(rank, 1), result.op.padding.assign(rank, {});
    result.window = Shape(shape.begin() + 2, shape.end());
    for (const int64_t extent : result.window) result.counts.push_back({static_cast<double>(extent)});
    return result;
}

// Where all windows of an axis count as many taps, that is part of one unit; else sums are divided by the product of the others'
// counts at each position.
struct Divisor {
    double all = 1;
    std::optional<ValueId> at_positions;
};

Divisor divisor(Rewriting &graph, const Average &mean) {
    Divisor result;
    Shape shape{1, 1};
    std::vector<double> products{1};
    for (const std::vector<double> &counts : mean.counts) {
        const bool is_uniform = std::ranges::all_of(counts, [&](double count) { return count == counts[0]; });
        if (is_uniform && !counts.empty()) result.all *= counts[0];
        const std::vector<double> own = is_uniform ? std::vector<double>{1} : counts;
        std::vector<double> next;
        for (const double product : products) {
            for (const double count : own) next.push_back(product * count);
        }
        products = std::move(next);
        shape.push_back(static_cast<int64_t>(own.size()));
    }
    if (products.size() > 1) result.at_positions = floats(graph, shape, std::move(products));
    return result;
}

std::optional<ValueId> averages(Rewriting &graph, const Node &node) {
    const auto mean = average(graph, node);
    const auto x = mean ? quantized_input(graph, node.inputs[0]) : std::nullopt;
    if (!x) return {};
    const int64_t taps = product(mean->window, 0), channels = mean->op.groups;
    if (taps < 1 || channels < 1 || !fits_sums(taps, false)) return {};
    Shape shape{channels, 1};
    shape.insert(shape.end(), mean->window.begin(), mean->window.end());
    const ValueId ones =
        graph.constant({Element::i8, shape}, ConstantData(std::vector<std::byte>(channels * taps, std::byte{1})));
    const IntegerSums sums{*x, {ones, {1.0}, {}}};
    const ValueId total = sums.add(graph, mean->op, x->stored, ones);
    const Divisor by = divisor(graph, *mean);
    Expression number = times(cast(operand(0), Element::f32), operand(1));
    std::vector<ValueId> inputs{total, floats(graph, {}, {x->by.scale / by.all})};
    if (by.at_positions) {
        number = apply(Function::divide, std::move(number), operand(2));
        inputs.push_back(*by.at_positions);
    }
    return graph.result(Elementwise{std::move(number), graph.shape(total)}, std::move(inputs));
}

// Of a product, dequantized: one operand is a matrix of weights.
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
    const IntegerSums sums{*x, *w};
    return convolved_product(
        graph, a->stored, b->stored, [&](Rewriting &now, const Convolution &op, ValueId stored, ValueId weights) {
            const ValueId total = sums.add(now, op, stored, weights);
            const Shape form = now.shape(total);
            const ValueId units = floats(now, beside_channels(form[1], form.size()), sums.units());
            return now.between(Elementwise{times(cast(operand(0), Element::f32), operand(1)), form}, {total, units});
        });
}

// Of two activations: the product in i32 of what is stored less its zero points.
std::optional<ValueId> product_of_activations(Rewriting &graph, const Node &node) {
    const auto a = quantized_input(graph, node.inputs[0]), b = quantized_input(graph, node.inputs[1]);
    if (!a || !b || !fits_sums(graph.shape(node.inputs[0]).back(), true)) return {};
    const auto offset = [&](const QuantizedInput &x) {
        const Element type = graph.value(x.stored).form.type;
        const ValueId point = graph.constant(Numbers{{type, {}}, std::vector<int64_t>{x.by.zero_point}});
        return graph.between(Elementwise{without_zero_point(), graph.shape(x.stored)}, {x.stored, point});
    };
    const ValueId left = offset(*a), right = offset(*b), sums = graph.between(MatrixProduct{}, {left, right});
    const ValueId unit = floats(graph, {}, {a->by.scale * b->by.scale});
    return graph.result(Elementwise{times(cast(operand(0), Element::f32), operand(1)), graph.shape(sums)},
                        {sums, unit});
}

// An operand of a product in i32: what is stored less its zero point.
struct Offset {
    ValueId stored, zero_point;
};

std::optional<Offset> offset(const Rewriting &graph, ValueId id) {
    const auto *op = graph.computed_by<Elementwise>(id);
    if (!op || !is_without_zero_point(*op)) return {};
    const Node &node = *graph.producer(id);
    if (!is_quantized(graph.value(node.inputs[0]).form) || graph.shape(node.inputs[0]) != op->shape) return {};
    return Offset{node.inputs[0], node.inputs[1]};
}

std::optional<ValueId> integer_product(Rewriting &graph, const Node &node) {
    const auto a = offset(graph, node.inputs[0]), b = offset(graph, node.inputs[1]);
    if (!a || !b) return {};
    const auto side = constant_matrix(graph, a->stored, b->stored);
    if (!side) return {};
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
    if (auto id = convolution(graph, node)) return id;
    if (auto id = averages(graph, node)) return id;
    if (!std::holds_alternative<MatrixProduct>(node.op)) return {};
    if (auto id = dequantized_product(graph, node)) return id;
    if (auto id = product_of_activations(graph, node)) return id;
    return integer_product(graph, node);
}

// What still dequantizes constants does so now.
std::optional<ValueId> fold(Rewriting &graph, const Node &node) {
    if (!is_kept_for_passes(node.op)) return {};
    std::vector<Numbers> numbers;
    std::vector<const Numbers *> inputs;
    for (const ValueId id : node.inputs) {
        if (!graph.is_constant(id)) return {};
        numbers.push_back(graph.numbers(id));
    }
    for (const Numbers &n : numbers) inputs.push_back(&n);
    const Result<Numbers> result = evaluate(node.op, inputs);
    return result ? std::optional(graph.constant(*result)) : std::nullopt;
}

}  // namespace

Graph quantize_sums(const Graph &graph) { return has_quantization(graph) ? rewrite(graph, quantize) : graph; }

Graph fold_dequantized(const Graph &graph) { return has_quantization(graph) ? rewrite(graph, fold) : graph; }

}  // namespace kiln::graph
