#include "graph/rewriting/value_terms.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace kiln::graph {
namespace {

template<typename Change>
void change_operands(Term *term, const Change &change) {
    if (is(*term, Function::operand)) return change(term);
    for (Term &argument : term->arguments) change_operands(&argument, change);
}

void collect(const Term &term, std::set<ValueId> *ids) {
    if (is(term, Function::operand)) ids->insert(term.step.operand);
    for (const Term &argument : term.arguments) collect(argument, ids);
}

}  // namespace

Term value_term(const Rewriting &graph, ValueId id) { return operand_term(id, graph.value(id).form.type); }

Term term_of(const Node &node, std::span<const Element> types) {
    Term term = to_term(std::get<Elementwise>(node.op).expression, types);
    change_operands(&term, [&](Term *t) { t->step.operand = node.inputs[t->step.operand]; });
    return term;
}

Term term_of(const Rewriting &graph, const Node &node) {
    std::vector<Element> types;
    for (ValueId id : node.inputs) types.push_back(graph.value(id).form.type);
    return term_of(node, types);
}

Term term_of(const Rewriting &graph, ValueId id) {
    return graph.computed_by<Elementwise>(id) ? term_of(graph, *graph.producer(id)) : value_term(graph, id);
}

std::vector<ValueId> values_in(const Term &term) {
    std::set<ValueId> ids;
    collect(term, &ids);
    return {ids.begin(), ids.end()};
}

Term replaced(Term term, ValueId id, const Term &by) {
    change_operands(&term, [&](Term *t) {
        if (t->step.operand == id) *t = by;
    });
    return term;
}

std::pair<Elementwise, std::vector<ValueId>> to_elementwise(Term term, const Shape &shape) {
    std::vector<ValueId> inputs = values_in(term);
    change_operands(&term, [&](Term *t) {
        t->step.operand = static_cast<int>(std::ranges::lower_bound(inputs, t->step.operand) - inputs.begin());
    });
    return {Elementwise{to_expression(term), shape}, std::move(inputs)};
}

}  // namespace kiln::graph
