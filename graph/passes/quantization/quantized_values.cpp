#include "graph/passes/quantization/quantized_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

Quantization parameters(const Node &node) {
    Quantization by{node.inputs[1], {}};
    if (node.inputs.size() > 2) by.zero_point = node.inputs[2];
    return by;
}

std::optional<double> only_element(const Rewriting &graph, ValueId id) {
    if (!graph.is_constant(id) || *element_count(graph.shape(id)) != 1) return {};
    return read_float(graph.value(id).form.type, graph.value(id).constant->bytes().data());
}

bool are_equal(const Rewriting &graph, ValueId a, ValueId b) {
    if (a == b) return true;
    return graph.is_constant(a) && graph.is_constant(b) && graph.value(a).form == graph.value(b).form &&
           *graph.value(a).constant == *graph.value(b).constant;
}

}  // namespace

std::optional<Dequantized> dequantized(const Rewriting &graph, ValueId id) {
    const auto *op = graph.computed_by<Elementwise>(id);
    if (!op || !is_dequantization(*op)) return {};
    const Node &node = *graph.producer(id);
    if (graph.shape(node.inputs[0]) != op->shape) return {};
    return Dequantized{node.inputs[0], parameters(node)};
}

std::optional<Quantized> quantized(const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op || !is_quantization(*op)) return {};
    return Quantized{node.inputs[0], parameters(node), op->expression.steps.back().type};
}

std::optional<UniformQuantization> uniform(const Rewriting &graph, const Quantization &by) {
    const auto scale = only_element(graph, by.scale);
    if (!scale || !(*scale > 0) || !std::isfinite(*scale)) return {};
    if (!by.zero_point) return UniformQuantization{*scale, 0};
    const auto zero_point = only_element(graph, *by.zero_point);
    if (!zero_point) return {};
    return UniformQuantization{*scale, static_cast<int64_t>(*zero_point)};
}

std::optional<double> nearest_stored(double number, const UniformQuantization &by, Element type) {
    if (std::isnan(number)) return {};
    const double quotient = static_cast<double>(static_cast<float>(number / by.scale));
    const QuantumRange range = range_of_quanta(type);
    return std::clamp(std::nearbyint(quotient) + static_cast<double>(by.zero_point), range.lo, range.hi);
}

bool are_equal(const Rewriting &graph, const Quantization &a, const Quantization &b) {
    const auto of_a = uniform(graph, a), of_b = uniform(graph, b);
    if (of_a && of_b) return *of_a == *of_b;
    if (!are_equal(graph, a.scale, b.scale) || a.zero_point.has_value() != b.zero_point.has_value()) return false;
    return !a.zero_point || are_equal(graph, *a.zero_point, *b.zero_point);
}

bool stays_finite(const Rewriting &graph, const Quantization &by, Element type) {
    if (!graph.is_constant(by.scale)) return false;
    const QuantumRange range = range_of_quanta(type);
    const Numbers scales = graph.numbers(by.scale);  // f32
    return std::ranges::all_of(std::get<std::vector<double>>(scales.elements), [&](double scale) {
        return std::abs(scale) * (range.hi - range.lo) <= std::numeric_limits<float>::max();
    });
}

std::optional<std::vector<double>> along_axis(const Rewriting &graph, ValueId id, int axis, const Shape &shape) {
    if (!graph.is_constant(id)) return {};
    Shape own = graph.shape(id);
    if (own.size() > shape.size()) return {};
    own.insert(own.begin(), shape.size() - own.size(), 1);
    for (size_t i = 0; i < own.size(); i++) {
        if (own[i] != 1 && (static_cast<int>(i) != axis || own[i] != shape[axis])) return {};
    }
    const Numbers numbers = graph.numbers(id);
    std::vector<double> elements;
    std::visit([&](const auto &list) { elements.assign(list.begin(), list.end()); }, numbers.elements);
    if (elements.size() == 1) elements.resize(shape[axis], elements[0]);
    return elements;
}

ValueId floats(Rewriting &graph, const Shape &shape, std::vector<double> elements) {
    return graph.constant(Numbers{{Element::f32, shape}, std::move(elements)});
}

ValueId integers(Rewriting &graph, std::vector<int64_t> elements) {
    const auto count = static_cast<int64_t>(elements.size());
    return graph.constant(Numbers{{Element::i32, {count}}, std::move(elements)});
}

bool has_quantization(const Graph &graph) {
    return std::ranges::any_of(graph.nodes, [](const Node &node) {
        const auto *op = std::get_if<Elementwise>(&node.op);
        return op && (is_dequantization(*op) || is_quantization(*op) || is_without_zero_point(*op));
    });
}

}  // namespace kiln::graph
