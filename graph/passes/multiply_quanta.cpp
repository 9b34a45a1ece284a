// Functions of one or two stored numbers that divide, such as additions of quantized tensors and the requantization of what is
// concatenated, become a rounded sum of multiples:
//
//   round(min(max(x0 * factor0 + x1 * factor1 + shift, lo), hi))
//
// Bounds are whole numbers, so that they may come before the rounding. In other expressions the stages that quantize and dequantize on the
// way do, or vanish.
#include <optional>
#include <utility>

#include "graph/passes/functions/rounded_multiples.h"
#include "graph/passes/functions/stored_function.h"
#include "graph/passes/functions/whole_stages.h"
#include "graph/passes/passes.h"
#include "graph/passes/quantization/quantized_values.h"
#include "graph/quantized_forms.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {
namespace {

// Numbers that are no bounds of the type are inputs, so that one kernel serves all.
class Writer {
public:
    Writer(Rewriting &graph, Element type) : graph_(graph), type_(type) {}

    Term number(float value) { return value_term(graph_, floats(graph_, {}, {value})); }

    Term term(const StoredFunction &function, const RoundedMultiples &candidate) {
        Term sum = multiple(function.inputs[0], candidate.factors[0]);
        if (function.inputs.size() == 2)
            sum = call(Function::add, {std::move(sum), multiple(function.inputs[1], candidate.factors[1])});
        sum = call(Function::add, {std::move(sum), number(candidate.shift)});
        const QuantumRange range = range_of_quanta(type_);
        sum = bounded(Function::maximum, std::move(sum), candidate.lo - candidate.behind,
                      float(range.lo) - candidate.behind);
        sum = bounded(Function::minimum, std::move(sum), candidate.hi - candidate.behind,
                      float(range.hi) - candidate.behind);
        Term result = call(Function::round, {std::move(sum)});
        if (candidate.behind != 0)
            result = call(Function::add, {std::move(result), number_term(candidate.behind, Element::f32)});
        return {{.function = Function::cast, .type = type_}, type_, {std::move(result)}};
    }

private:
    Term multiple(ValueId input, float factor) {
        Term value{{.function = Function::cast, .type = Element::f32}, Element::f32, {value_term(graph_, input)}};
        return call(Function::multiply, {std::move(value), number(factor)});
    }

    // The bound of the type is a number in any case: kernels see that nothing saturates.
    Term bounded(Function function, Term sum, float value, float of_type) {
        if (value != of_type) sum = call(function, {std::move(sum), number(value)});
        return call(function, {std::move(sum), number_term(of_type, Element::f32)});
    }

    Rewriting &graph_;
    const Element type_;
};

// All of the function.
std::optional<ValueId> multiply_whole(Rewriting &graph, const Node &node, const Term &term) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    const auto function = stored_function(graph, node);
    if (!function) return {};
    const auto multiples = rounded_multiples(graph, *function, term);
    if (!multiples) return {};
    Writer writer(graph, term.type);
    auto [result, inputs] = to_elementwise(writer.term(*function, *multiples), op->shape);
    return graph.result(std::move(result), std::move(inputs));
}

std::optional<ValueId> multiply(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op) return {};
    const Term term = term_of(graph, node);
    if (!contains(term, Function::divide)) return {};
    if (const auto whole = multiply_whole(graph, node, term)) return whole;
    const auto shorter = without_a_stage(graph, term);
    if (!shorter) return {};
    auto [result, inputs] = to_elementwise(*shorter, op->shape);
    return graph.result(std::move(result), std::move(inputs));
}

}  // namespace

Graph multiply_quanta(const Graph &graph) { return rewrite(graph, multiply); }

}  // namespace kiln::graph
