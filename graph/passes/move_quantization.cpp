// Dequantizations move toward the outputs and quantizations toward the inputs, across what only moves or compares elements:
// pools for maxima, concatenations, reshapes, transposes, slices and pads. Where the two meet with the same numbers, both
// vanish.
//
// Both functions ascend, so the largest of stored numbers stands for the largest number. A pair stays where its numbers would be
// infinite in between: those are stored as the ends of the type.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/passes/passes.h"
#include "graph/passes/quantization/quantized_values.h"
#include "graph/quantized_forms.h"
#include "graph/window_axis.h"

namespace kiln::graph {
namespace {

// A window of padding alone has -inf, and no stored number.
bool takes_largest(const Operator &op, const Shape &shape) {
    if (const auto *pool = std::get_if<Pool>(&op)) {
        return pool->kind == Pool::Kind::maximum &&
               std::ranges::none_of(window_axes(*pool, shape), &WindowAxis::misses_image);
    }
    const auto *reduce = std::get_if<Reduce>(&op);
    return reduce && (reduce->kind == Reduce::Kind::maximum || reduce->kind == Reduce::Kind::minimum);
}

bool is_weighted(const Resample &op) {
    return std::ranges::any_of(op.axes, [](const Resample::Axis &axis) { return !axis.weights.empty(); });
}

// The operator on stored numbers of a shape, of which `stored` is what a number of floats is; nothing where it does more than move
// elements.
template<typename Stored>
std::optional<Operator> on_stored(const Operator &op, const Shape &shape, const Stored &stored) {
    const bool only_moves = std::holds_alternative<Reshape>(op) || std::holds_alternative<Transpose>(op);
    if (only_moves || takes_largest(op, shape)) return op;
    const auto *resample = std::get_if<Resample>(&op);
    if (!resample || is_weighted(*resample)) return {};
    Resample result = *resample;
    if (resample->reads_outside()) {
        const std::optional<double> fill = stored(resample->fill);
        if (!fill) return {};
        result.fill = *fill;
    }
    return result;
}

std::vector<ValueId> inputs_with(ValueId value, const Quantization &by) {
    std::vector<ValueId> inputs{value, by.scale};
    if (by.zero_point) inputs.push_back(*by.zero_point);
    return inputs;
}

ZeroPoint zero_point_of(const Quantization &by) { return by.zero_point ? ZeroPoint::operand : ZeroPoint::none; }

// The stored number that stands for a float exactly.
std::optional<double> exactly_stored(double number, const UniformQuantization &by, Element type) {
    const double stored = number / by.scale + static_cast<double>(by.zero_point);
    const QuantumRange range = range_of_quanta(type);
    if (stored != std::nearbyint(stored) || stored < range.lo || stored > range.hi) return {};
    return stored;
}

// Parameters beside a value of shape `from` that is reshaped. Where some of the axes that become one have parameters, these are
// repeated along the others, as groups of a transposed convolution need it.
std::optional<ValueId> reshaped_parameters(Rewriting &graph, ValueId id, const Shape &from, const Shape &to) {
    constexpr int64_t most_repeated = 1 << 20;
    Shape own = graph.shape(id), result(to.size(), 1);
    own.insert(own.begin(), from.size() - own.size(), 1);
    Shape repeated = own;
    for (size_t i = 0, j = 0; i < from.size() || j < to.size();) {
        // The fewest next axes of both that have as many elements.
        const size_t first = i, first_result = j;
        int64_t before = 1, behind = 1;
        do {
            if (i < from.size() && (before <= behind || j == to.size())) {
                before *= from[i++];
            } else {
                behind *= to[j++];
            }
        } while (before != behind);
        if (std::all_of(own.begin() + first, own.begin() + i, [](int64_t extent) { return extent == 1; })) continue;
        std::copy(from.begin() + first, from.begin() + i, repeated.begin() + first);
        std::copy(to.begin() + first_result, to.begin() + j, result.begin() + first_result);
    }
    if (*element_count(repeated) > most_repeated) return {};
    if (repeated == own) return graph.between(Reshape{result}, {id});
    const Numbers numbers = graph.numbers(id);
    Result<Numbers> all = evaluate(Elementwise{operand(0), repeated}, {&numbers});
    if (!all) return {};
    all->form.shape = std::move(result);
    return graph.constant(*all);
}

// What stands beside the elements along axes, such as a scale for each channel, moved as these are.
std::optional<ValueId> moved_parameters(Rewriting &graph, ValueId id, const Operator &op, const Shape &from) {
    Shape own = graph.shape(id);
    if (own.empty()) return id;
    if (const auto *reshape = std::get_if<Reshape>(&op)) return reshaped_parameters(graph, id, from, reshape->shape);
    own.insert(own.begin(), from.size() - own.size(), 1);
    if (std::holds_alternative<Transpose>(op)) return graph.between(op, {graph.between(Reshape{own}, {id})});
    for (const Resample::Axis &axis : std::get<Resample>(op).axes) {
        if (own[axis.axis] != 1) return {};
    }
    return id;
}

// What moves weights that have a scale for each channel moves the scales, too: transposes, and what turns the weights of a
// transposed convolution about.
std::optional<ValueId> sink_with_parameters(Rewriting &graph, const Node &node) {
    const bool moves = std::holds_alternative<Reshape>(node.op) || std::holds_alternative<Transpose>(node.op) ||
                       std::holds_alternative<Resample>(node.op);
    const auto x = moves ? dequantized(graph, node.inputs[0]) : std::nullopt;
    if (!x || !graph.is_constant(x->stored) || !holds_quanta(graph.value(x->stored).form.type)) return {};
    const Shape shape = graph.shape(x->stored);
    const auto op = on_stored(node.op, shape, [](double) { return std::optional<double>(); });
    if (!op || *element_count(shape) == 0 || !graph.is_constant(x->by.scale)) return {};
    if (x->by.zero_point && !graph.is_constant(*x->by.zero_point)) return {};
    const auto scale = moved_parameters(graph, x->by.scale, *op, shape);
    if (!scale) return {};
    Quantization by{*scale, {}};
    if (x->by.zero_point) {
        by.zero_point = moved_parameters(graph, *x->by.zero_point, *op, shape);
        if (!by.zero_point) return {};
    }
    const ValueId moved = graph.between(*op, {x->stored});
    return graph.result(Elementwise{dequantization(zero_point_of(by)), graph.shape(moved)}, inputs_with(moved, by));
}

std::optional<ValueId> sink(Rewriting &graph, const Node &node) {
    if (node.inputs.empty()) return {};
    const auto x = dequantized(graph, node.inputs[0]);
    if (!x) return {};
    const auto by = uniform(graph, x->by);
    const Element type = graph.value(x->stored).form.type;
    if (!by || !holds_quanta(type)) return {};
    const auto op =
        on_stored(node.op, graph.shape(x->stored), [&](double number) { return exactly_stored(number, *by, type); });
    if (!op) return {};
    const ValueId moved = graph.between(*op, {x->stored});
    return graph.result(Elementwise{dequantization(zero_point_of(x->by)), graph.shape(moved)},
                        inputs_with(moved, x->by));
}

std::optional<ValueId> sink_through_concat(Rewriting &graph, const Node &node) {
    const auto *concat = std::get_if<Concat>(&node.op);
    if (!concat) return {};
    std::vector<ValueId> stored;
    std::optional<Quantization> all;
    for (const ValueId id : node.inputs) {
        const auto part = dequantized(graph, id);
        if (!part || !uniform(graph, part->by)) return {};
        if (all && !are_equal(graph, *all, part->by)) return {};
        if (!stored.empty() && graph.value(stored[0]).form.type != graph.value(part->stored).form.type) return {};
        if (!all) all = part->by;
        stored.push_back(part->stored);
    }
    if (!all || !holds_quanta(graph.value(stored[0]).form.type)) return {};
    const ValueId joined = graph.between(*concat, std::move(stored));
    return graph.result(Elementwise{dequantization(zero_point_of(*all)), graph.shape(joined)},
                        inputs_with(joined, *all));
}

std::optional<ValueId> raise(Rewriting &graph, const Node &node) {
    const auto y = quantized(node);
    if (!y) return {};
    const auto x = dequantized(graph, y->number);
    if (x && graph.value(x->stored).form.type == y->type && are_equal(graph, x->by, y->by) &&
        stays_finite(graph, x->by, y->type))
        return x->stored;
    const auto by = uniform(graph, y->by);
    if (!by || graph.uses(y->number) > 1 || !graph.producer(y->number)) return {};
    if (graph.shape(y->number) != std::get<Elementwise>(node.op).shape) return {};
    const Node before = *graph.producer(y->number);
    const auto nearest = [&](double number) { return nearest_stored(number, *by, y->type); };
    std::optional<Operator> op = before.op;
    if (!std::holds_alternative<Concat>(before.op)) {
        if (before.inputs.empty()) return {};
        op = on_stored(before.op, graph.shape(before.inputs[0]), nearest);
    }
    if (!op) return {};
    std::vector<ValueId> parts;
    for (const ValueId id : before.inputs) {
        if (graph.value(id).form.type != Element::f32) return {};
        const Elementwise quantize{quantization(y->type, zero_point_of(y->by)), graph.shape(id)};
        parts.push_back(graph.between(quantize, inputs_with(id, y->by)));
    }
    return graph.result(*op, std::move(parts), {y->number});
}

// What stands for a NaN (graph/lower/rules/reductions.cpp) is never asked: numbers of a finite scale are none.
std::optional<ValueId> without_nan(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op || node.inputs.size() != 1 || op->shape != graph.shape(node.inputs[0])) return {};
    const std::vector<scalar::Step> &steps = op->expression.steps;
    const bool asks = steps.size() == 5 && steps[0] == steps[3] && steps[0].function == Function::operand &&
                      steps[1].function == Function::is_nan && steps[2].function == Function::constant &&
                      steps[4].function == Function::select;
    const auto x = asks ? dequantized(graph, node.inputs[0]) : std::nullopt;
    const auto by = x ? uniform(graph, x->by) : std::nullopt;
    if (!by || !std::isfinite(by->scale) || !holds_quanta(graph.value(x->stored).form.type)) return {};
    return node.inputs[0];
}

std::optional<ValueId> move(Rewriting &graph, const Node &node) {
    if (const auto number = without_nan(graph, node)) return number;
    if (auto sunk = sink(graph, node)) return sunk;
    if (auto sunk = sink_with_parameters(graph, node)) return sunk;
    if (auto sunk = sink_through_concat(graph, node)) return sunk;
    return raise(graph, node);
}

}  // namespace

Graph move_quantization(const Graph &graph) { return has_quantization(graph) ? rewrite(graph, move) : graph; }

}  // namespace kiln::graph
