#include "graph/passes/float_notes.h"

#include <algorithm>
#include <optional>

#include "graph/passes/passes.h"
#include "graph/passes/product_convolution.h"
#include "graph/passes/quantization/integer_convolution.h"
#include "graph/passes/quantization/integer_sums.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

constexpr std::string_view not_quantized = "its input is not quantized",
                           input_numbers = "its input has no single scale and zero point that the model states",
                           input_type = "its input is quantized to more than 8 bits",
                           weights_not_quantized = "its weights are not quantized",
                           weights_numbers =
                               "its weights, or their scales, are no constants of i8 or u8 with one scale an output",
                           too_long = "its sums may be larger than i32 holds", epilogue = "it computes more than sums",
                           other = "kiln computes it with floats only";

std::optional<std::string_view> of_input(const Rewriting &graph, ValueId id) {
    const auto x = dequantized(graph, id);
    if (!x) return not_quantized;
    if (quantized_input(graph, id)) return {};
    const Element type = graph.value(x->stored).form.type;
    return type == Element::i8 || type == Element::u8 ? input_numbers : input_type;
}

// Of weights that are dequantized by other numbers than sums can have, or that are not dequantized. What moves them may stand in between.
std::string_view of_weights(const Rewriting &graph, ValueId id) {
    while (graph.computed_by<Transpose>(id) || graph.computed_by<Reshape>(id) || graph.computed_by<Resample>(id))
        id = graph.producer(id)->inputs[0];
    return dequantized(graph, id) ? weights_numbers : weights_not_quantized;
}

std::string_view of_convolution(const Rewriting &graph, const Node &node) {
    if (const auto why = of_input(graph, node.inputs[0])) return *why;
    const auto w = quantized_weights(graph, node.inputs[1], 0);
    if (!w) return of_weights(graph, node.inputs[1]);
    return fits_sums(products_of(graph.shape(w->stored)), are_wide(graph, *w)) ? epilogue : too_long;
}

// Stored numbers whose sums are exact in f32.
bool multiplies_stored(const Rewriting &graph, const Node &node) {
    return std::ranges::all_of(node.inputs, [&](ValueId id) {
        const auto *op = graph.computed_by<Elementwise>(id);
        return op && is_without_zero_point_in_floats(*op);
    });
}

std::string_view of_product(const Rewriting &graph, const Node &node) {
    const auto a = dequantized(graph, node.inputs[0]), b = dequantized(graph, node.inputs[1]);
    if (!a && !b) return not_quantized;
    const auto is_weights = [&](ValueId id, const std::optional<Dequantized> &x) {
        return graph.is_constant(x ? x->stored : id);
    };
    const bool is_right = is_weights(node.inputs[1], b);
    if (!is_right && !is_weights(node.inputs[0], a)) {  // of activations
        const auto why = of_input(graph, node.inputs[0]);
        return why ? *why : of_input(graph, node.inputs[1]).value_or(too_long);
    }
    if (const auto why = of_input(graph, node.inputs[is_right ? 0 : 1])) return *why;
    const ValueId matrix = node.inputs[is_right ? 1 : 0];
    const Shape &shape = graph.shape(matrix);
    const int last = static_cast<int>(shape.size()) - 1;
    const auto w = quantized_weights(graph, matrix, is_right ? last : last - 1);
    if (!w) return of_weights(graph, matrix);
    return fits_sums(shape[is_right ? last - 1 : last], are_wide(graph, *w)) ? other : too_long;
}

bool is_average(const Operator &op) {
    if (const auto *pool = std::get_if<Pool>(&op)) return pool->kind == Pool::Kind::average;
    const auto *reduce = std::get_if<Reduce>(&op);
    return reduce && reduce->kind == Reduce::Kind::mean;
}

std::optional<std::string_view> why_floats(const Rewriting &graph, const Node &node) {
    if (node.inputs.empty() || graph.value(node.inputs[0]).form.type != Element::f32) return {};
    if (std::holds_alternative<Convolution>(node.op)) return of_convolution(graph, node);
    if (std::holds_alternative<MatrixProduct>(node.op)) {
        if (multiplies_stored(graph, node)) return {};
        return of_product(graph, node);
    }
    if (is_average(node.op)) return of_input(graph, node.inputs[0]).value_or(other);
    if (std::holds_alternative<Normalize>(node.op) || std::holds_alternative<Reduce>(node.op)) return other;
    return {};
}

}  // namespace

std::vector<FloatNote> float_notes(const Graph &graph) {
    std::vector<FloatNote> notes;
    if (!has_quantization(graph)) return notes;
    const Result<Graph> quantized = run_passes(graph, "quantize_sums");
    if (!quantized) return notes;
    rewrite_once(*quantized, [&](Rewriting &now, const Node &node) -> std::optional<ValueId> {
        if (const auto why = why_floats(now, node)) notes.push_back({node.origins, *why});
        return {};
    });
    return notes;
}

}  // namespace kiln::graph
