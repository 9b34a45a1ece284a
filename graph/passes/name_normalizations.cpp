// Layer normalization and softmax that a model spells with reductions and element-wise nodes become Normalize.
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/passes.h"
#include "graph/rewriting/simplify_expression.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {
namespace {

using enum Function;

// What a term computes: where it is a value that an element-wise node makes, that node's expression.
Term looked_into(const Rewriting &graph, const Term &term) {
    return is(term, operand) ? simplify(term_of(graph, term.step.operand)) : term;
}

struct Reduced {
    ValueId input;
    std::vector<int> axes;
    bool operator==(const Reduced &) const = default;
};

// What a term is the reduction of.
std::optional<Reduced> reduced(const Rewriting &graph, const Term &term, Reduce::Kind kind) {
    if (!is(term, operand)) return {};
    const auto *reduce = graph.computed_by<Reduce>(term.step.operand);
    if (!reduce || reduce->kind != kind) return {};
    return Reduced{graph.producer(term.step.operand)->inputs[0], reduce->axes};
}

// x and the axes, where `term` is x - mean(x), with any value as x.
std::optional<Reduced> centered(const Rewriting &graph, const Term &term) {
    const Term difference = looked_into(graph, term);
    if (!is(difference, subtract) || !is(difference.arguments[0], operand)) return {};
    auto mean = reduced(graph, difference.arguments[1], Reduce::Kind::mean);
    if (!mean || mean->input != difference.arguments[0].step.operand) return {};
    return mean;
}

// The deviation that a term divides by: sqrt(mean((x - mean(x))^2) + epsilon).
struct Deviation {
    Reduced of;
    double epsilon = 0;
    bool operator==(const Deviation &) const = default;
};

std::optional<Deviation> deviation(const Rewriting &graph, const Term &term) {
    const Term root = looked_into(graph, term);
    if (!is(root, square_root)) return {};
    Term variance = root.arguments[0];
    double epsilon = 0;
    if (const Term sum = looked_into(graph, variance); is(sum, add) && is_number(sum.arguments[1])) {
        variance = sum.arguments[0];
        epsilon = sum.arguments[1].step.number;
    }
    const auto mean = reduced(graph, variance, Reduce::Kind::mean);
    if (!mean || epsilon < 0) return {};
    const Term square = looked_into(graph, value_term(graph, mean->input));
    if (!is(square, power) || !is_number(square.arguments[1], 2)) return {};
    const auto of = centered(graph, square.arguments[0]);
    if (!of || of->axes != mean->axes) return {};
    return Deviation{*of, epsilon};
}

std::optional<ValueId> mean_variance(Rewriting &graph, const Node &, const Term &term) {
    std::optional<Reduced> top;
    std::optional<Deviation> bottom;
    if (is(term, divide)) {
        top = centered(graph, term.arguments[0]);
        bottom = deviation(graph, term.arguments[1]);
    } else if (is(term, multiply)) {
        for (int i = 0; i < 2 && !bottom; i++) {
            const Term inverse = looked_into(graph, term.arguments[i]);
            if (!is(inverse, reciprocal)) continue;
            top = centered(graph, term.arguments[1 - i]);
            bottom = deviation(graph, inverse.arguments[0]);
        }
    }
    if (!top || !bottom || *top != bottom->of) return {};
    return graph.result(Normalize{Normalize::Kind::mean_variance, top->axes, bottom->epsilon}, {top->input});
}

// x and the axes, where two values are exp(z) and the sum of exp(z) with z = x - max(x), or z = x alone.
std::optional<Reduced> softmax_of(const Rewriting &graph, const Term &exponent, const std::vector<int> &axes) {
    if (is(exponent, operand)) {
        const Term difference = looked_into(graph, exponent);
        const Reduced plain{exponent.step.operand, axes};
        return is(difference, subtract) ? softmax_of(graph, difference, axes).value_or(plain) : plain;
    }
    if (!is(exponent, subtract) || !is(exponent.arguments[0], operand)) return {};
    const auto most = reduced(graph, exponent.arguments[1], Reduce::Kind::maximum);
    if (!most || *most != Reduced{exponent.arguments[0].step.operand, axes}) return {};
    return most;
}

std::optional<ValueId> softmax(Rewriting &graph, const Node &node, const Term &term) {
    if (!is(term, divide)) return {};
    const auto sum = reduced(graph, term.arguments[1], Reduce::Kind::sum);
    if (!sum) return {};
    const Term above = looked_into(graph, term.arguments[0]), below = term_of(graph, sum->input);
    if (!is(above, exponential) || above != simplify(below)) return {};
    const auto of = softmax_of(graph, above.arguments[0], sum->axes);
    if (!of || graph.shape(of->input) != std::get<Elementwise>(node.op).shape) return {};
    return graph.result(Normalize{Normalize::Kind::softmax, of->axes, 0}, {of->input});
}

std::optional<ValueId> log_softmax(Rewriting &graph, const Node &node, const Term &term) {
    if (is(term, logarithm) && is(term.arguments[0], operand)) {
        const ValueId inner = term.arguments[0].step.operand;
        const auto *op = graph.computed_by<Normalize>(inner);
        if (!op || op->kind != Normalize::Kind::softmax) return {};
        const Normalize result{Normalize::Kind::log_softmax, op->axes, 0};
        return graph.result(result, {graph.producer(inner)->inputs[0]});
    }
    if (!is(term, subtract)) return {};
    const Term log_of_sum = looked_into(graph, term.arguments[1]);
    if (!is(log_of_sum, logarithm)) return {};
    const auto sum = reduced(graph, log_of_sum.arguments[0], Reduce::Kind::sum);
    if (!sum) return {};
    const Term summed = simplify(term_of(graph, sum->input));
    if (!is(summed, exponential)) return {};
    const auto value = [&](const Term &t) { return is(t, operand) ? looked_into(graph, t) : t; };
    const auto of = softmax_of(graph, summed.arguments[0], sum->axes);
    if (!of || value(term.arguments[0]) != value(summed.arguments[0])) return {};
    if (graph.shape(of->input) != std::get<Elementwise>(node.op).shape) return {};
    return graph.result(Normalize{Normalize::Kind::log_softmax, of->axes, 0}, {of->input});
}

std::optional<ValueId> name_normalization(Rewriting &graph, const Node &node) {
    if (!std::holds_alternative<Elementwise>(node.op)) return {};
    const Term term = simplify(term_of(graph, node));
    if (!is_float(term.type)) return {};
    for (const auto rule : {mean_variance, softmax, log_softmax}) {
        if (auto id = rule(graph, node, term)) return id;
    }
    return {};
}

}  // namespace

Graph name_normalizations(const Graph &graph) { return rewrite(graph, name_normalization); }

}  // namespace kiln::graph
