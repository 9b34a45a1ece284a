// Element-wise nodes that follow each other become one, so that what is between them is never in memory.
//
// A value with one reader is always computed there. One with several readers is computed by each of them where that is cheap,
// all of them are element-wise and it reads at most one tensor of its size: then it need not be stored. Values that are
// broadcast are computed once and stay.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "graph/convolution_inputs.h"
#include "graph/passes/passes.h"
#include "graph/rewriting/simplify_expression.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {
namespace {

constexpr int most_steps_of_group = 64, most_steps_of_copy = 5;
constexpr int most_steps_of_table =
    256;  // of a function of one stored number, whose results become a table (tabulate_quanta)
constexpr int most_readers = 4;
constexpr size_t most_inputs = 8;

bool is_cheap(const Term &term) {
    if (is(term, Function::divide)) return is_number(term.arguments[1]) && is_cheap(term.arguments[0]);
    return is_simple(term.step.function) && std::ranges::all_of(term.arguments, is_cheap);
}

// Whether a term reads one tensor of stored numbers of 8 bits, and constants of one element beside it.
bool reads_one_stored_number(const Rewriting &graph, const Term &term) {
    int tensors = 0;
    for (const ValueId id : values_in(term)) {
        if (graph.is_constant(id) && *element_count(graph.shape(id)) == 1) continue;
        if (!is_quantized(graph.value(id).form.type)) return false;
        tensors++;
    }
    return tensors == 1;
}

bool may_be_computed_by_readers(const Rewriting &graph, ValueId id) {
    if (graph.uses(id) == 1) return true;
    if (graph.uses(id) > most_readers) return false;  // asked first: each of them asks
    const Shape &shape = graph.shape(id);
    const Term term = term_of(graph, id);
    if (size(term) > most_steps_of_copy || !is_cheap(term)) return false;
    const auto readers = graph.readers(id);
    if (static_cast<int>(readers.size()) != graph.uses(id)) return false;  // an output
    for (const Node *reader : readers) {
        const auto *op = std::get_if<Elementwise>(&reader->op);
        if (!op || op->shape != shape) return false;
    }
    const auto inputs = values_in(term);
    return std::ranges::count_if(inputs, [&](ValueId input) { return graph.shape(input) == shape; }) <= 1;
}

std::optional<ValueId> fuse_readers(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op) return {};
    const Term term = term_of(graph, node);
    const Rounding rounding = graph.is_quantized_behind(node) ? Rounding::stays : Rounding::may_change;
    for (ValueId id : node.inputs) {
        if (!graph.computed_by<Elementwise>(id) || graph.shape(id) != op->shape) continue;
        if (!may_be_computed_by_readers(graph, id)) continue;
        const Term before = term_of(graph, id);
        if (std::max(size(term), size(before)) > most_steps_of_table) continue;
        const Term together = replaced(term, id, before);
        const int most = reads_one_stored_number(graph, together) ? most_steps_of_table : most_steps_of_group;
        if (size(together) > most) continue;
        auto [fused, inputs] = to_elementwise(simplify(together, rounding), op->shape);
        if (inputs.size() > most_inputs) continue;
        return graph.result(std::move(fused), std::move(inputs), {id});
    }
    return {};
}

}  // namespace

Graph fuse_elementwise(const Graph &graph) { return rewrite(graph, fuse_readers); }

}  // namespace kiln::graph
