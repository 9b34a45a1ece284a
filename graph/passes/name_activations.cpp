// Several element-wise nodes that together are one of the functions in named_functions.h become that function's form.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/passes.h"
#include "graph/rewriting/named_functions.h"
#include "graph/rewriting/simplify_expression.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {
namespace {

constexpr int most_nodes = 12, most_steps = 64;  // of a function

// A node with some of those before it, as one expression.
class Group {
public:
    Group(const Rewriting &graph, const Node &node)
        : graph_(graph),
          shape_(std::get<Elementwise>(node.op).shape),
          term_(term_of(graph, node)),
          reads_(node.inputs) {}

    const Term &term() const { return term_; }

    // Takes in the latest node that nothing outside reads. False where there is none.
    bool grow() {
        const std::vector<ValueId> ids = values_in(term_);
        for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
            if (!graph_.computed_by<Elementwise>(*id) || graph_.shape(*id) != shape_) continue;
            if (graph_.uses(*id) != std::ranges::count(reads_, *id)) continue;
            const Node &producer = *graph_.producer(*id);
            const Term before = term_of(graph_, producer);
            if (size(before) > most_steps) continue;
            reads_.insert(reads_.end(), producer.inputs.begin(), producer.inputs.end());
            term_ = replaced(std::move(term_), *id, before);
            return true;
        }
        return false;
    }

private:
    const Rewriting &graph_;
    const Shape shape_;
    Term term_;
    std::vector<ValueId> reads_;  // by all nodes of the group
};

std::optional<ValueId> name_function(Rewriting &graph, const Node &node) {
    if (!std::holds_alternative<Elementwise>(node.op)) return {};
    Group group(graph, node);
    for (int i = 0; i < most_nodes && size(group.term()) <= most_steps; i++) {
        const std::vector<ValueId> ids = values_in(group.term());
        if (ids.size() == 1 && is_float(group.term().type)) {
            const Shape shape = std::get<Elementwise>(node.op).shape;
            const NamedFunction *function = named_function(simplify(group.term()));
            if (function && graph.shape(ids[0]) == shape) {
                auto [op, inputs] = to_elementwise(form_of(*function, value_term(graph, ids[0])), shape);
                if (Operator(op) == node.op && inputs == node.inputs) return {};
                return graph.result(std::move(op), std::move(inputs));
            }
        }
        if (!group.grow()) break;
    }
    return {};
}

}  // namespace

Graph name_activations(const Graph &graph) { return rewrite(graph, name_function); }

}  // namespace kiln::graph
