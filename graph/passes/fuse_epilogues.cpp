// What an element-wise node does with the result of a convolution becomes steps of its epilogue: additions of a number for each
// channel or of a tensor of the same shape, clamps, a factor for each channel, one number as factor or summand and the functions that
// workload/epilogue/step.cpp has, in any order and with at most one step of each kind that has an operand. Bounds at the largest finite
// number, which old opsets state for a clamp without one, are dropped.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/passes.h"
#include "graph/rewriting/value_steps.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {
namespace {

std::optional<ValueId> with_steps(Rewriting &graph, const Node &node, ValueId id) {
    const Node convolution = *graph.producer(id);
    auto op = std::get<Convolution>(convolution.op);
    ValueSteps before{.steps = {}, .inputs = {}, .of_sums = true};
    for (const EpilogueStep &step : op.epilogue) before.push(step);
    const auto shape_of = [&](ValueId value) -> const Shape & { return graph.shape(value); };
    const auto all = steps_of(term_of(graph, node), id, shape_of, before);
    if (!all || all->steps.size() > most_value_steps) return {};
    std::vector<ValueId> inputs = convolution.inputs;
    op.epilogue = all->steps;
    for (size_t i = before.steps.size(); i < all->steps.size(); i++) {
        if (all->inputs[i] < 0) continue;
        const bool is_for_channels = epilogue_form(all->steps[i].kind).operand == EpilogueForm::Operand::channels;
        inputs.push_back(is_for_channels ? graph.between(Reshape{{graph.shape(id)[1]}}, {all->inputs[i]})
                                         : all->inputs[i]);
    }
    return graph.result(std::move(op), std::move(inputs), {id});
}

std::optional<ValueId> fuse_epilogue(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op) return {};
    // The convolution that is computed last, for its addend must be there before it.
    std::vector<ValueId> latest = node.inputs;
    std::ranges::sort(latest, std::greater<>());
    for (ValueId id : latest) {
        if (!graph.computed_by<Convolution>(id) || graph.uses(id) > 1 || graph.shape(id) != op->shape) continue;
        if (!is_float(graph.value(id).form.type)) continue;
        if (auto fused = with_steps(graph, node, id)) return fused;
    }
    return {};
}

}  // namespace

Graph fuse_epilogues(const Graph &graph) { return rewrite(graph, fuse_epilogue); }

}  // namespace kiln::graph
