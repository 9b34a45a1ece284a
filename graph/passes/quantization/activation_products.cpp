#include "graph/passes/quantization/activation_products.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "graph/passes/quantization/integer_sums.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

// Whole numbers up to it are f32.
constexpr double largest_exact_float = 1 << 24;

// The largest difference from zero points, which may be known only when the network runs.
double largest(const Rewriting &graph, const Offset &x) {
    const QuantumRange range = range_of_quanta(graph.value(x.stored).form.type);
    if (!graph.is_constant(x.zero_point)) return range.hi - range.lo;
    double most = 0;
    const auto add = [&](const auto &points) {
        for (const auto point : points) most = std::max({most, double(point) - range.lo, range.hi - double(point)});
    };
    std::visit(add, graph.numbers(x.zero_point).elements);
    return most;
}

}  // namespace

bool is_exact_in_floats(const Rewriting &graph, const Offset &left, const Offset &right) {
    const auto products = static_cast<double>(graph.shape(left.stored).back());
    return products * largest(graph, left) * largest(graph, right) <= largest_exact_float;
}

ValueId product_of_offsets(Rewriting &graph, const Offset &left, const Offset &right) {
    const bool in_floats = is_exact_in_floats(graph, left, right);
    const auto number = [&](const Offset &x) {
        Expression difference = in_floats ? without_zero_point_in_floats() : without_zero_point();
        return graph.between(Elementwise{std::move(difference), graph.shape(x.stored)}, {x.stored, x.zero_point});
    };
    const ValueId a = number(left), b = number(right);
    return graph.between(MatrixProduct{}, {a, b});
}

std::optional<ValueId> product_of_activations(Rewriting &graph, const Node &node) {
    const auto a = quantized_input(graph, node.inputs[0]), b = quantized_input(graph, node.inputs[1]);
    if (!a || !b || !fits_sums(graph.shape(node.inputs[0]).back(), true)) return {};
    const auto point = [&](const QuantizedInput &x) {
        const Element type = graph.value(x.stored).form.type;
        return graph.constant(Numbers{{type, {}}, std::vector<int64_t>{x.by.zero_point}});
    };
    const bool have_one =
        a->by.zero_point == b->by.zero_point && graph.value(a->stored).form.type == graph.value(b->stored).form.type;
    const ValueId left = point(*a), right = have_one ? left : point(*b);
    const ValueId sums = product_of_offsets(graph, {a->stored, left}, {b->stored, right});
    const ValueId unit = floats(graph, {}, {a->by.scale * b->by.scale});
    Expression number = graph.value(sums).form.type == Element::f32 ? operand(0) : cast(operand(0), Element::f32);
    return graph.result(Elementwise{apply(Function::multiply, std::move(number), operand(1)), graph.shape(sums)},
                        {sums, unit});
}

}  // namespace kiln::graph
