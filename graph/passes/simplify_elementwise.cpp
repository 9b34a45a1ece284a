// Element-wise nodes in their normal form: numbers instead of constants that hold one number, each input once, ascending; no
// node where nothing is computed.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "graph/passes/passes.h"
#include "graph/rewriting/simplify_expression.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {
namespace {

// The number that all elements of a constant are, if an expression can hold it. NaN cannot be compared, so it stays outside.
std::optional<double> only_number(const Value &value) {
    const auto bytes = value.constant->bytes();
    const auto size = static_cast<size_t>(size_of(value.form.type));
    if (bytes.empty()) return {};
    for (size_t i = size; i < bytes.size(); i += size) {
        if (!std::equal(bytes.begin(), bytes.begin() + size, bytes.begin() + i)) return {};
    }
    const double number = read_float(value.form.type, bytes.data());
    if (std::isnan(number) || (!is_float(value.form.type) && std::abs(number) > 0x1p53)) return {};
    return number;
}

Term with_numbers(const Rewriting &graph, Term term) {
    for (ValueId id : values_in(term)) {
        if (graph.is_constant(id)) {
            const auto number = only_number(graph.value(id));
            if (number) term = replaced(std::move(term), id, number_term(*number, graph.value(id).form.type));
        } else if (const Term computed = term_of(graph, id); is_number(computed)) {
            term = replaced(std::move(term), id, computed);
        }
    }
    return term;
}

std::optional<ValueId> simplify_node(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op) return {};
    const Term before = term_of(graph, node);
    Term term = simplify(with_numbers(graph, before));
    if (is(term, Function::operand)) {
        const ValueId id = term.step.operand;
        if (graph.shape(id) == op->shape) return id;
        if (element_count(graph.shape(id)).value() == element_count(op->shape).value()) {
            return graph.result(Reshape{op->shape}, {id});
        }
    }
    auto [simple, inputs] = to_elementwise(std::move(term), op->shape);
    if (simple == *op && inputs == node.inputs) return {};
    return graph.result(std::move(simple), std::move(inputs));
}

}  // namespace

Graph simplify_elementwise(const Graph &graph) { return rewrite(graph, simplify_node); }

}  // namespace kiln::graph
