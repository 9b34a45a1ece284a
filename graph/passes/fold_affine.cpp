// Multiplications and additions of a constant for each channel, such as a batch normalization, become part of the weights and
// the bias of the convolution in front of them, or of the one behind them. Two of them in a row become one.
//
// Everything is computed in double and rounded once. A shift in front of a convolution that pads stays: its padding is zeros
// behind the shift, not in front of it.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "graph/evaluate/operator_loops.h"
#include "graph/passes/factors/affine.h"
#include "graph/passes/factors/scaled_weights.h"
#include "graph/passes/passes.h"
#include "graph/rewriting/rewriting.h"

namespace kiln::graph {
namespace {

using StepKind = EpilogueStep::Kind;

bool all_are(const std::vector<double> &values, double number) {
    return std::ranges::all_of(values, [&](double value) { return value == number; });
}

// A convolution with its inputs, whose sums can be multiplied and added to.
class Folding {
public:
    Folding(Rewriting &graph, const Node &convolution)
        : graph_(graph), op_(std::get<Convolution>(convolution.op)), inputs_(convolution.inputs) {}

    const Value &weights() const { return graph_.value(inputs_[1]); }
    bool has_constant_weights() const { return weights().constant.has_value(); }

    // Whether the epilogue's steps before the first that is neither an addition nor a bias are all of them.
    bool is_linear() const {
        return std::ranges::all_of(op_.epilogue, [](const EpilogueStep &step) {
            return step.kind == StepKind::bias || step.kind == StepKind::add;
        });
    }
    bool adds() const {
        return std::ranges::any_of(op_.epilogue, [](const EpilogueStep &s) { return s.kind == StepKind::add; });
    }

    // The sums, and what was added to them, times a number for each output channel; then numbers are added. False where that is
    // not exact enough or has no place.
    bool scale_and_shift(const Affine &by) {
        const auto bias = biases();
        if (!bias) return false;
        if (!all_are(by.scale, 1)) {
            if (!has_constant_weights()) return false;
            auto scaled = scaled_weights(weights(), [&](int64_t o, int64_t) { return by.scale[o]; });
            if (!scaled) return false;
            weights_ = std::move(scaled);
        }
        std::vector<double> sums = *bias;
        for (size_t o = 0; o < sums.size(); o++) sums[o] = sums[o] * by.scale[o] + by.shift[o];
        return set_biases(std::move(sums));
    }

    // The same of the input channels, in front of the convolution.
    bool take_in(const Affine &by) {
        const auto channel = [&](int64_t o, int64_t i) {
            const Shape &shape = weights().form.shape;
            return o / (shape[0] / op_.groups) * shape[1] + i;
        };
        if (!all_are(by.scale, 1)) {
            auto scaled = scaled_weights(weights(), [&](int64_t o, int64_t i) { return by.scale[channel(o, i)]; });
            if (!scaled) return false;
            weights_ = std::move(scaled);
        }
        if (all_are(by.shift, 0)) return true;
        auto bias = biases();
        if (!bias || pads()) return false;
        const auto more = sums_of_weights(weights(), [&](int64_t o, int64_t i) { return by.shift[channel(o, i)]; });
        for (size_t o = 0; o < more.size(); o++) (*bias)[o] += more[o];
        return set_biases(std::move(*bias));
    }

    void read_from(ValueId input) { inputs_[0] = input; }

    ValueId finish(ValueId absorbed) {
        if (weights_) inputs_[1] = graph_.constant(weights().form, std::move(*weights_));
        if (bias_) {
            const TypedShape form{weights().form.type, {weights().form.shape[0]}};
            const ValueId id = graph_.constant(Numbers{form, std::move(*bias_)});
            const auto position = bias_input();
            if (position) {
                inputs_[*position] = id;
            } else {
                op_.epilogue.insert(op_.epilogue.begin(), {StepKind::bias});
                inputs_.insert(inputs_.begin() + 2, id);
            }
        }
        return graph_.result(std::move(op_), std::move(inputs_), {absorbed});
    }

private:
    bool pads() const {
        const auto adds_zeros = [](const Padding &p) { return p.lo > 0 || p.hi > 0; };
        const auto has_holes = [](int64_t dilation) { return dilation > 1; };
        return std::ranges::any_of(op_.padding, adds_zeros) || std::ranges::any_of(op_.input_dilation, has_holes);
    }

    // Which input the bias is, if there is one.
    std::optional<size_t> bias_input() const {
        size_t position = 2;
        for (const EpilogueStep &step : op_.epilogue) {
            if (step.kind == StepKind::bias) return position;
            position += epilogue_form(step.kind).operand != EpilogueForm::Operand::none;
        }
        return {};
    }

    // The bias that is added to the sums, zeros where there is none. Nothing where it is no constant or comes behind other
    // steps.
    std::optional<std::vector<double>> biases() const {
        const auto position = bias_input();
        if (!position) return std::vector<double>(weights().form.shape[0], 0);
        for (const EpilogueStep &step : op_.epilogue) {
            if (step.kind == StepKind::bias) break;
            if (step.kind != StepKind::add) return {};
        }
        if (!graph_.is_constant(inputs_[*position])) return {};
        return std::get<std::vector<double>>(graph_.numbers(inputs_[*position]).elements);
    }

    bool set_biases(std::vector<double> sums) {
        for (double number : sums) {
            if (!std::isfinite(rounded(weights().form.type, number))) return false;
        }
        if (bias_input() || !all_are(sums, 0)) bias_ = std::move(sums);
        return true;
    }

    Rewriting &graph_;
    Convolution op_;
    std::vector<ValueId> inputs_;
    std::optional<ConstantData> weights_;
    std::optional<std::vector<double>> bias_;
};

std::optional<ValueId> into_convolution_before(Rewriting &graph, const Node &node) {
    for (size_t i = 0; i < node.inputs.size(); i++) {
        const ValueId id = node.inputs[i];
        if (!graph.computed_by<Convolution>(id) || graph.uses(id) > 1) continue;
        if (!is_float(graph.value(id).form.type)) continue;
        const auto by = affine(graph, node, static_cast<int>(i), 1);
        if (!by) continue;
        Folding folding(graph, Node(*graph.producer(id)));
        if (!folding.is_linear() || (folding.adds() && !all_are(by->scale, 1))) continue;
        if (folding.scale_and_shift(*by)) return folding.finish(id);
    }
    return {};
}

struct AffineOf {
    ValueId x;
    Affine values;
};

// What an element-wise node does with its one input that is no constant, where that is nothing else.
std::optional<AffineOf> affine_of(const Rewriting &graph, const Node &node, int axis) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op || static_cast<int>(op->shape.size()) <= axis) return {};
    for (size_t i = 0; i < node.inputs.size(); i++) {
        if (graph.is_constant(node.inputs[i])) continue;
        auto values = affine(graph, node, static_cast<int>(i), axis);
        if (!values) return {};
        return AffineOf{node.inputs[i], std::move(*values)};
    }
    return {};
}

std::optional<ValueId> into_convolution_behind(Rewriting &graph, const Node &node) {
    // Transposes in between change which axis the channels are, and are put in front.
    ValueId id = node.inputs[0];
    int axis = 1;
    std::vector<Transpose> transposes;
    while (const auto *transpose = graph.computed_by<Transpose>(id)) {
        if (graph.uses(id) > 1) return {};
        axis = transpose->permutation[axis];
        transposes.push_back(*transpose);
        id = graph.producer(id)->inputs[0];
    }
    if (!graph.computed_by<Elementwise>(id) || graph.uses(id) > 1) return {};
    Folding folding(graph, node);
    if (!folding.has_constant_weights() || !is_float(folding.weights().form.type)) return {};
    const Node before = *graph.producer(id);
    const auto by = affine_of(graph, before, axis);
    if (!by || !folding.take_in(by->values)) return {};
    ValueId input = by->x;
    for (auto transpose = transposes.rbegin(); transpose != transposes.rend(); ++transpose) {
        input = graph.between(*transpose, {input});
    }
    folding.read_from(input);
    return folding.finish(id);
}

std::optional<ValueId> into_elementwise_before(Rewriting &graph, const Node &node) {
    // Each step in front of a quantization is rounded, as in the model: a change of the last place might decide which quantum it is.
    if (graph.is_quantized_behind(node)) return {};
    const auto outer = affine_of(graph, node, 1);
    if (!outer || !graph.computed_by<Elementwise>(outer->x) || graph.uses(outer->x) > 1) return {};
    const auto inner = affine_of(graph, *graph.producer(outer->x), 1);
    if (!inner || inner->values.divides || outer->values.divides) return {};
    const TypedShape form = graph.value(outer->x).form;
    auto values = composed(outer->values, inner->values, form.type);
    if (!values) return {};
    TypedShape of_channels{form.type, Shape(form.shape.size() - 1, 1)};
    of_channels.shape[0] = form.shape[1];
    Elementwise both{std::move(*scalar::parse_expression("add(mul(x0,x1),x2)")), form.shape};
    const std::vector<ValueId> inputs{inner->x, graph.constant(Numbers{of_channels, std::move(values->scale)}),
                                      graph.constant(Numbers{of_channels, std::move(values->shift)})};
    return graph.result(std::move(both), inputs, {outer->x});
}

std::optional<ValueId> fold_steps(Rewriting &graph, const Node &node) {
    if (std::holds_alternative<Elementwise>(node.op)) {
        const auto folded = into_convolution_before(graph, node);
        return folded ? folded : into_elementwise_before(graph, node);
    }
    if (std::holds_alternative<Convolution>(node.op)) return into_convolution_behind(graph, node);
    return {};
}

}  // namespace

Graph fold_affine(const Graph &graph) { return rewrite(graph, fold_steps); }

}  // namespace kiln::graph
