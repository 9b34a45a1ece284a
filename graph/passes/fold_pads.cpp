// A resample that only pads with zeros or crops becomes part of the padding of the convolution or the average pool behind it.
//
// Before a pool of maxima it stays: there padding is less than every value, not 0.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "graph/convolution_inputs.h"
#include "graph/passes/passes.h"
#include "graph/rewriting/rewriting.h"

namespace kiln::graph {
namespace {

// The padding that an axis of a resample is: positive for zeros, negative for what is cut off. Nothing for other resamples.
std::optional<Padding> as_padding(const Resample::Axis &axis, int64_t extent) {
    const std::vector<int64_t> &indices = axis.indices;
    const auto is_inside = [](int64_t index) { return index != Resample::outside; };
    const auto begin = std::ranges::find_if(indices, is_inside);
    if (axis.taps != 1 || !axis.weights.empty() || begin == indices.end()) return {};
    auto end = begin;
    while (end != indices.end() && *end == *begin + (end - begin)) ++end;
    if (std::any_of(end, indices.end(), is_inside)) return {};
    const int64_t before = begin - indices.begin(), behind = indices.end() - end;
    const int64_t cut_before = *begin, cut_behind = extent - (*begin + (end - begin));
    if ((before > 0 && cut_before > 0) || (behind > 0 && cut_behind > 0)) return {};
    return Padding{before - cut_before, behind - cut_behind};
}

// Padding of the spatial axes of an input of this shape, or nothing where the resample does anything else.
std::optional<std::vector<Padding>> as_padding(const Resample &op, const Shape &shape, double zero) {
    std::vector<Padding> result(shape.size() - 2);
    for (const Resample::Axis &axis : op.axes) {
        const auto padding = as_padding(axis, shape[axis.axis]);
        if (!padding || axis.axis < 2) return {};
        if ((padding->lo > 0 || padding->hi > 0) && op.fill != zero) return {};
        result[axis.axis - 2] = *padding;
    }
    return result;
}

// What padding of a convolution stands for: the zero point of a quantized one. Nothing where that is known only when it runs.
std::optional<double> zero_of(const Rewriting &graph, const Node &node) {
    if (!is_quantized(graph.value(node.inputs[0]).form.type)) return 0;
    if (!graph.is_constant(node.inputs[2])) return {};
    return static_cast<double>(std::get<std::vector<int64_t>>(graph.numbers(node.inputs[2]).elements)[0]);
}

// What is cut off cannot be undone by zeros.
bool can_follow(int64_t first, int64_t second) { return first >= 0 || second <= 0; }

std::optional<std::vector<Padding>> together(const std::vector<Padding> &first, std::vector<Padding> second,
                                             const std::vector<int64_t> &steps) {
    for (size_t i = 0; i < second.size(); i++) {
        if (!can_follow(first[i].lo, second[i].lo) || !can_follow(first[i].hi, second[i].hi)) return {};
        second[i].lo += first[i].lo * steps[i];
        second[i].hi += first[i].hi * steps[i];
    }
    return second;
}

std::optional<ValueId> fold_pad(Rewriting &graph, const Node &node) {
    const bool is_convolution = std::holds_alternative<Convolution>(node.op);
    if (!is_convolution && !std::holds_alternative<Pool>(node.op)) return {};
    const auto *resample = graph.computed_by<Resample>(node.inputs[0]);
    if (!resample) return {};
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = graph.producer(node.inputs[0])->inputs[0];
    const std::optional<double> zero = is_convolution ? zero_of(graph, node) : 0;
    if (!zero) return {};
    const auto padding = as_padding(*resample, graph.shape(inputs[0]), *zero);
    if (!padding) return {};
    if (is_convolution) {
        auto op = std::get<Convolution>(node.op);
        // Zeros of the pad have holes between them, too.
        auto folded = together(*padding, op.padding, op.input_dilation);
        if (!folded) return {};
        op.padding = std::move(*folded);
        return graph.result(std::move(op), std::move(inputs), {node.inputs[0]});
    }
    auto op = std::get<Pool>(node.op);
    const auto is_zero = [](const Padding &p) { return p == Padding{}; };
    const auto is_cut = [](const Padding &p) { return p.lo < 0 || p.hi < 0; };
    if (op.kind != Pool::Kind::average || std::ranges::any_of(*padding, is_cut)) return {};
    if (!op.counts_padding && !std::ranges::all_of(op.padding, is_zero)) return {};
    op.padding = *together(*padding, op.padding, std::vector<int64_t>(padding->size(), 1));
    op.counts_padding = true;
    return graph.result(std::move(op), std::move(inputs), {node.inputs[0]});
}

}  // namespace

Graph fold_pads(const Graph &graph) { return rewrite(graph, fold_pad); }

}  // namespace kiln::graph
