// What an element-wise node does with the result of a convolution becomes steps of its epilogue: additions of a number for each
// channel or of a tensor of the same shape, clamps, one number as factor or summand and the functions that workload/epilogue/step.cpp
// has, in any order and with at most one step of each kind that has an operand: a bias, an addition, a PReLU.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/passes.h"
#include "graph/rewriting/pattern.h"
#include "graph/rewriting/simplify_expression.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {
namespace {

using enum Function;
using StepKind = EpilogueStep::Kind;

constexpr size_t most_steps = 8;  // of one epilogue: a package's descriptor holds no more (KILN_MAX_EPILOGUE)
constexpr float infinity = std::numeric_limits<float>::infinity();

// Steps in their order, each with its input, or -1.
struct Steps {
    std::vector<EpilogueStep> steps;
    std::vector<ValueId> inputs;

    void push(EpilogueStep step, ValueId input = -1) {
        steps.push_back(step);
        inputs.push_back(input);
    }
    // A factor adds -0, which leaves each x as it is, -0 too, until the number behind it takes that place.
    void push_number(float number) {
        const bool is_factor = !steps.empty() && steps.back().kind == StepKind::affine && steps.back().hi == 0 &&
                               std::signbit(steps.back().hi);
        if (is_factor) {
            steps.back().hi = number;
        } else {
            push({StepKind::affine, 1, number});
        }
    }
    bool has(StepKind kind) const {
        return std::ranges::any_of(steps, [&](const EpilogueStep &step) { return step.kind == kind; });
    }
};

bool reads(const Term &term, ValueId id) {
    if (is(term, operand)) return term.step.operand == id;
    return std::ranges::any_of(term.arguments, [&](const Term &argument) { return reads(argument, id); });
}

class Reader {
public:
    Reader(const Rewriting &graph, ValueId convolution) : graph_(graph), convolution_(convolution) {}

    // The steps that make a term of the convolution's result, behind those that `steps` has.
    bool read(const Term &term, Steps *steps) const {
        if (is(term, operand)) return term.step.operand == convolution_;
        if (activation(term, steps)) return true;
        if (is(term, minimum) || is(term, maximum)) return bound(term, steps);
        if (is(term, multiply)) return factor(term, steps);
        if (!is(term, add)) return false;
        const Term &a = term.arguments[0], &b = term.arguments[1];
        if (is_number(b)) return summand(term, steps);
        return reads(a, convolution_) ? addition(a, b, steps) : addition(b, a, steps);
    }

private:
    bool activation(const Term &term, Steps *steps) const {
        if (term.type != Element::f32) return false;  // the steps' numbers are
        for (const EpilogueForm &form : epilogue_forms()) {
            if (is_addition(form.kind) || form.requantizes()) continue;
            const bool has_operand = form.operand != EpilogueForm::Operand::none;
            const auto found =
                match(simplify(parse_term(form.function)), term, has_operand ? Second::operand : Second::number);
            if (!found || !reads(*found->x0, convolution_)) continue;
            const EpilogueStep step{form.kind, static_cast<float>(found->numbers[0].value_or(0)),
                                    static_cast<float>(found->numbers[1].value_or(0))};
            Steps with_it = *steps;
            if (!check_numbers(step) || !read(*found->x0, &with_it)) continue;
            if (has_operand && !takes(form.kind, *found->operand, with_it)) continue;
            with_it.push(step, found->operand.value_or(-1));
            *steps = std::move(with_it);
            return true;
        }
        return false;
    }

    bool bound(const Term &term, Steps *steps) const {
        const Term &x = term.arguments[0], &number = term.arguments[1];
        if (!is_number(number)) return false;
        const auto limit = static_cast<float>(number.step.number);
        const bool is_clamp = is(term, minimum) && is(x, maximum) && is_number(x.arguments[1]) &&
                              x.arguments[1].step.number <= number.step.number;
        if (!read(is_clamp ? x.arguments[0] : x, steps)) return false;
        if (is_clamp) {
            steps->push({StepKind::clamp, static_cast<float>(x.arguments[1].step.number), limit});
        } else if (is(term, minimum)) {
            steps->push({StepKind::clamp, -infinity, limit});
        } else if (limit == 0) {
            steps->push({StepKind::relu});
        } else {
            steps->push({StepKind::clamp, limit, infinity});
        }
        return true;
    }

    bool factor(const Term &term, Steps *steps) const {
        const std::optional<float> number = number_of(term);
        if (!number || !read(term.arguments[0], steps)) return false;
        steps->push({StepKind::affine, *number, -0.0f});
        return true;
    }

    bool summand(const Term &term, Steps *steps) const {
        const std::optional<float> number = number_of(term);
        if (!number || !read(term.arguments[0], steps)) return false;
        steps->push_number(*number);
        return true;
    }

    // The second argument of a term of f32, where it is a finite number.
    static std::optional<float> number_of(const Term &term) {
        if (term.type != Element::f32 || !is_number(term.arguments[1])) return {};
        const auto number = static_cast<float>(term.arguments[1].step.number);
        if (!std::isfinite(number)) return {};
        return number;
    }

    bool addition(const Term &inner, const Term &added, Steps *steps) const {
        if (!is(added, operand) || !read(inner, steps)) return false;
        const ValueId id = added.step.operand;
        const StepKind kind = graph_.shape(id) == graph_.shape(convolution_) ? StepKind::add : StepKind::bias;
        if (!takes(kind, id, *steps)) return false;
        steps->push({kind}, id);
        return true;
    }

    // Whether a value may be the operand of a step behind others.
    bool takes(StepKind kind, ValueId id, const Steps &steps) const {
        if (steps.has(kind) || id == convolution_) return false;
        if (epilogue_form(kind).operand == EpilogueForm::Operand::channels) return is_for_channels(id);
        return graph_.shape(id) == graph_.shape(convolution_);
    }

    bool is_for_channels(ValueId id) const {
        const Shape &result = graph_.shape(convolution_);
        Shape shape = graph_.shape(id), expected(result.size(), 1);
        shape.insert(shape.begin(), result.size() - shape.size(), 1);
        expected[1] = result[1];
        return shape == expected;
    }

    const Rewriting &graph_;
    const ValueId convolution_;
};

std::optional<ValueId> with_steps(Rewriting &graph, const Node &node, ValueId id) {
    const Node convolution = *graph.producer(id);
    auto op = std::get<Convolution>(convolution.op);
    Steps steps;
    for (const EpilogueStep &step : op.epilogue) steps.push(step);
    const size_t before = steps.steps.size();
    if (!Reader(graph, id).read(term_of(graph, node), &steps) || steps.steps.size() > most_steps) return {};
    std::vector<ValueId> inputs = convolution.inputs;
    op.epilogue = steps.steps;
    for (size_t i = before; i < steps.steps.size(); i++) {
        if (steps.inputs[i] < 0) continue;
        const bool is_for_channels = epilogue_form(steps.steps[i].kind).operand == EpilogueForm::Operand::channels;
        inputs.push_back(is_for_channels ? graph.between(Reshape{{graph.shape(id)[1]}}, {steps.inputs[i]})
                                         : steps.inputs[i]);
    }
    return graph.result(std::move(op), std::move(inputs), {id});
}

std::optional<ValueId> fuse(Rewriting &graph, const Node &node) {
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

Graph fuse_epilogues(const Graph &graph) { return rewrite(graph, fuse); }

}  // namespace kiln::graph
