// An addition of two quantized tensors, as residual connections have it, becomes the last step of the epilogue of the convolution that
// makes one of them: its numbers are added before they leave the registers. That is done where the addition, with what clamps and
// quantizes behind it, is a rounded sum of multiples for all pairs of stored numbers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/functions/rounded_multiples.h"
#include "graph/passes/functions/stored_function.h"
#include "graph/passes/passes.h"
#include "graph/passes/quantization/integer_convolution.h"
#include "graph/passes/quantization/integer_sums.h"
#include "graph/quantized_forms.h"
#include "graph/rewriting/value_terms.h"
#include "workload/quantization/quantization.h"

namespace kiln::graph {
namespace {

using StepKind = EpilogueStep::Kind;

bool is_factor(float number) { return std::abs(number) <= largest_addition_factor; }

// Whether a convolution quantizes what it stores, and nothing else reads it.
bool can_add(const Rewriting &graph, ValueId id) {
    if (!graph.computed_by<Convolution>(id) || graph.uses(id) > 1) return false;
    const auto &op = std::get<Convolution>(graph.producer(id)->op);
    return !op.epilogue.empty() && op.epilogue.back().kind == StepKind::requantize_onnx;
}

std::optional<ValueId> with_addition(Rewriting &graph, ValueId own, ValueId addend, const RoundedMultiples &m,
                                     bool swaps) {
    const Node convolution = *graph.producer(own);
    auto op = std::get<Convolution>(convolution.op);
    op.epilogue.push_back({StepKind::add});
    std::vector<ValueId> inputs = convolution.inputs;
    inputs.push_back(addend);
    inputs.push_back(floats(graph, {3}, {m.factors[swaps ? 1 : 0], m.factors[swaps ? 0 : 1], m.shift}));
    inputs.push_back(integers(graph, {static_cast<int64_t>(m.behind)}));
    inputs.push_back(integers(graph, {static_cast<int64_t>(m.lo), static_cast<int64_t>(m.hi)}));
    return graph.result(std::move(op), std::move(inputs), {own});
}

std::optional<ValueId> fuse_addition(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op) return {};
    const Term term = term_of(graph, node);
    const auto function = stored_function(graph, node);
    if (!function || function->inputs.size() != 2) return {};
    const bool is_alike = std::ranges::all_of(function->inputs, [&](ValueId id) {
        return graph.shape(id) == op->shape && graph.value(id).form.type == term.type;
    });
    if (!is_alike) return {};
    // The convolution that is computed last, for its addend must be there before it.
    const bool swaps = function->inputs[1] > function->inputs[0] ? can_add(graph, function->inputs[1])
                                                                 : !can_add(graph, function->inputs[0]);
    const ValueId own = function->inputs[swaps ? 1 : 0], addend = function->inputs[swaps ? 0 : 1];
    if (!can_add(graph, own)) return {};
    const auto multiples = rounded_multiples(graph, *function, term);
    if (!multiples) return {};
    const bool fits =
        is_factor(multiples->factors[0]) && is_factor(multiples->factors[1]) && is_factor(multiples->shift);
    return fits ? with_addition(graph, own, addend, *multiples, swaps) : std::nullopt;
}

}  // namespace

Graph fuse_quantized_additions(const Graph &graph) { return rewrite(graph, fuse_addition); }

}  // namespace kiln::graph
