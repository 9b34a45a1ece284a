// What still dequantizes constants does so now.
#include <optional>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/passes/passes.h"
#include "graph/passes/quantization/integer_sums.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

std::optional<ValueId> fold_constant(Rewriting &graph, const Node &node) {
    if (!is_kept_for_passes(node.op)) return {};
    std::vector<Numbers> numbers;
    std::vector<const Numbers *> inputs;
    for (const ValueId id : node.inputs) {
        if (!graph.is_constant(id)) return {};
        numbers.push_back(graph.numbers(id));
    }
    for (const Numbers &n : numbers) inputs.push_back(&n);
    const Result<Numbers> result = evaluate(node.op, inputs);
    return result ? std::optional(graph.constant(*result)) : std::nullopt;
}

}  // namespace

Graph fold_dequantized(const Graph &graph) { return has_quantization(graph) ? rewrite(graph, fold_constant) : graph; }

}  // namespace kiln::graph
