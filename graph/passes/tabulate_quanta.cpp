// Functions of one stored number of 8 bits that take long, such as activations between what dequantizes and what quantizes, become tables of
// their 256 results, in which each element is looked up.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/functions/stored_function.h"
#include "graph/passes/passes.h"
#include "graph/quantized_forms.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {
namespace {

// In additions. Results of 8 bits are looked up in vectors (runtime/lookup/byte_lookup.h). Wider ones are loaded one by one: by races
// with AVX2 on a Zen 2, in the time of some ten additions, and wider vectors compute faster.
constexpr int cost_of_division = 4, cost_of_function = 16, cost_of_byte = 4, cost_of_wider = 16;

// Fewer elements are computed in no time.
constexpr int64_t fewest_elements = 4 * stored_values;

int cost_of(Function function) {
    switch (function) {
        case Function::operand:
        case Function::constant:
            return 0;
        case Function::round:
        case Function::floor:
        case Function::ceil:
            return 1;
        case Function::divide:
        case Function::reciprocal:
        case Function::square_root:
            return cost_of_division;
        default:
            return is_simple(function) ? 1 : cost_of_function;
    }
}

int cost(const Term &term) {
    int all = cost_of(term.step.function);
    for (const Term &argument : term.arguments) all += cost(argument);
    return all;
}

// Indices of a table are counted from 0 on.
ValueId counted_from_lowest(Rewriting &graph, ValueId stored) {
    if (graph.value(stored).form.type == Element::u8) return stored;
    const auto lowest = range_of_quanta(graph.value(stored).form.type).lo;
    Expression index = apply(Function::subtract, cast(operand(0), Element::i32), constant(lowest, Element::i32));
    return graph.between(Elementwise{cast(std::move(index), Element::u8), graph.shape(stored)}, {stored});
}

int cost_of_lookup(Element result) { return size_of(result) == 1 ? cost_of_byte : cost_of_wider; }

std::optional<ValueId> tabulate(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    const int computed = op ? cost(term_of(graph, node)) : 0;
    if (computed < cost_of_byte || *element_count(op->shape) < fewest_elements) return {};
    auto table = table_of(graph, node);
    if (!table || graph.shape(table->input) != op->shape || computed < cost_of_lookup(table->results.form.type))
        return {};
    const ValueId results = graph.constant(table->results);
    const ValueId index = counted_from_lowest(graph, table->input);
    return graph.result(Gather{0}, {results, index});
}

}  // namespace

Graph tabulate_quanta(const Graph &graph) { return rewrite(graph, tabulate); }

}  // namespace kiln::graph
