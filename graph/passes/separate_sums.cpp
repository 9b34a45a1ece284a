// Winograd's and Strassen's algorithms add the terms of several sums and subtract some again. So a small sum, or one of zeros, keeps a
// rounding error of the large ones beside it. Where results are added up further, no one notices. Behind a logarithm or in a divisor
// the error becomes anything: the spectrum of a silent frame beside a loud one, a row of zeros that is divided by its length. The
// sums of convolutions in front of such nodes keep apart.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/passes/passes.h"
#include "graph/rewriting/expression_tree.h"

namespace kiln::graph {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Rounding errors beside activations of about 1 are of about 1e-7. Divisors of more do not make them wrong results. It is below the
// roots of the constants that normalizations add to a variance, 1e-5 or 1e-6, and above that of 1e-12.
constexpr double least_divisor = 0x1p-14;
// Spectra have any scale, so that nothing is known of their errors: a logarithm must not have small arguments at all.
constexpr double least_argument = 0.5;
constexpr int64_t most_read = 4096;  // elements of a constant whose range is looked for

// What is known of a value, in the view of the convolution that is followed.
struct Part {
    enum class Kind {
        constant,
        other,   // what does not depend on it, or where its errors do not matter
        result,  // it is small where the convolution's result is, with the same error
    } kind = Kind::other;
    bool is_size = false;  // of squares or absolute values, such as a spectrum
    double least = -infinity, most = infinity;
};

bool is_result(const Part &part) { return part.kind == Part::Kind::result; }

Part within(Part part, double least, double most) {
    part.least = least, part.most = most;
    return part;
}

Part unbounded(const Part &part) { return within(part, -infinity, infinity); }
Part with_zero(const Part &part) { return within(part, std::min(part.least, 0.0), std::max(part.most, 0.0)); }

// Sums of such numbers, with factors that are not negative.
Part summed(const Part &part) { return within(part, part.least >= 0 ? 0 : -infinity, infinity); }

// The kinds of all, without bounds.
Part joined(std::initializer_list<const Part *> parts) {
    Part all{Part::Kind::constant, false};
    for (const Part *part : parts) all.kind = std::max(all.kind, part->kind), all.is_size |= part->is_size;
    return all;
}

double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

// Follows the results of one convolution through expressions and notes where they are enlarged.
class Following {
public:
    bool is_enlarged() const { return is_enlarged_; }

    Part divided_by(const Part &divisor) {
        is_enlarged_ |= is_result(divisor) && divisor.least < least_divisor && divisor.most > -least_divisor;
        return within(divisor, divisor.least >= 0 ? 0 : -infinity, infinity);
    }

    Part of(const Term &term, std::span<const Part> operands) {
        std::vector<Part> arguments;
        for (const Term &argument : term.arguments) arguments.push_back(of(argument, operands));
        switch (term.step.function) {
            case Function::operand:
                return operands[size_t(term.step.operand)];
            case Function::constant:
                return {Part::Kind::constant, false, term.step.number, term.step.number};
            case Function::cast:
                return term.type == Element::f32 ? arguments[0] : no_longer(arguments[0]);
            case Function::select:
                return selected(term, arguments);
            default:
                return arguments.size() == 1 ? of_one(term.step.function, arguments[0])
                                             : of_two(term, arguments[0], arguments[1]);
        }
    }

private:
    static Part no_longer(Part part) {
        if (is_result(part)) part.kind = Part::Kind::other;
        return part;
    }

    static Part larger(const Part &kind, const Part &a, const Part &b) {
        return within(kind, std::max(a.least, b.least), std::max(a.most, b.most));
    }
    static Part smaller(const Part &kind, const Part &a, const Part &b) {
        return within(kind, std::min(a.least, b.least), std::min(a.most, b.most));
    }

    // Clamps are selections: less(a, b) ? b : a is the larger one.
    static Part selected(const Term &term, const std::vector<Part> &arguments) {
        const Part all = joined({&arguments[0], &arguments[1], &arguments[2]}), &a = arguments[1], &b = arguments[2];
        const Term &condition = term.arguments[0];
        if (is(condition, Function::less)) {
            const Term &first = condition.arguments[0], &second = condition.arguments[1];
            if (term.arguments[1] == second && term.arguments[2] == first) return larger(all, a, b);
            if (term.arguments[1] == first && term.arguments[2] == second) return smaller(all, a, b);
        }
        return within(all, std::min(a.least, b.least), std::max(a.most, b.most));
    }

    static Part size_of(Part part) {
        part.is_size = true;
        return within(part, 0, infinity);
    }

    Part of_one(Function function, const Part &x) {
        switch (function) {
            case Function::negate:
                return within(x, -x.most, -x.least);
            case Function::absolute:
                return size_of(x);
            case Function::reciprocal:
                return divided_by(x);
            case Function::square_root:
                return within(x, std::sqrt(std::max(x.least, 0.0)), std::sqrt(std::max(x.most, 0.0)));
            case Function::logarithm:
                is_enlarged_ |= is_result(x) && x.least < least_argument;
                return unbounded(x);
            case Function::tangent_hyperbolic:
            case Function::error_function:
                return within(x, -1, 1);
            case Function::sigmoid:
                return within(no_longer(x), 0, 1);
            case Function::exponential:  // an error becomes one relative to the result
                return within(no_longer(x), 0, infinity);
            case Function::logarithm_1p:
            case Function::sine:
            case Function::cosine:
                return unbounded(x);
            default:  // conditions, signs and whole numbers
                return unbounded(no_longer(x));
        }
    }

    Part of_two(const Term &term, const Part &a, const Part &b) {
        const Part both = joined({&a, &b});
        switch (term.step.function) {
            case Function::add:
                return within(sum(a, b), a.least + b.least, a.most + b.most);
            case Function::subtract:
                return within(sum(a, b), a.least - b.most, a.most - b.least);
            case Function::multiply: {
                if (term.arguments[0] == term.arguments[1]) return size_of(a);
                const auto [least, most] = std::minmax({product(a.least, b.least), product(a.least, b.most),
                                                        product(a.most, b.least), product(a.most, b.most)});
                return within(both, least, most);
            }
            case Function::divide: {
                const Part inverse = divided_by(b);
                return within(both, a.least >= 0 && inverse.least >= 0 ? 0 : -infinity, infinity);
            }
            case Function::power:
                return power(a, b);
            case Function::minimum:
                return smaller(both, a, b);
            case Function::maximum:
                return larger(both, a, b);
            default:
                return unbounded(no_longer(both));
        }
    }

    // What is added from elsewhere is no smaller where the result is.
    static Part sum(const Part &a, const Part &b) {
        const Part both = joined({&a, &b});
        const bool has_other = a.kind == Part::Kind::other || b.kind == Part::Kind::other;
        return has_other ? no_longer(both) : both;
    }

    Part power(const Part &x, const Part &exponent) {
        if (is_result(exponent) || exponent.least != exponent.most)
            return unbounded(no_longer(joined({&x, &exponent})));
        if (exponent.least < 0) return divided_by(x);
        if (std::remainder(exponent.least, 2) == 0) return size_of(x);
        if (x.least < 0) return unbounded(x);
        return within(x, std::pow(x.least, exponent.least), std::pow(x.most, exponent.least));
    }

    bool is_enlarged_ = false;
};

// The readers of each value, as places in the graph's order of nodes.
std::vector<std::vector<size_t>> readers_of(const Graph &graph) {
    std::vector<std::vector<size_t>> readers(graph.values.size());
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        for (const ValueId id : graph.nodes[i].inputs) readers[size_t(id)].push_back(i);
    }
    return readers;
}

// Follows the results of one convolution through the nodes behind it.
class FollowedSums {
public:
    FollowedSums(const Graph &graph, const std::vector<std::vector<size_t>> &readers)
        : graph_(graph), readers_(readers) {}

    bool are_enlarged(const Node &node) {
        const auto &op = std::get<Convolution>(node.op);
        arrive(node.output, behind_epilogue(op, {Part::Kind::result, false}));
        while (!following_.is_enlarged() && !ahead_.empty()) {
            node_ = &graph_.nodes[ahead_.extract(ahead_.begin()).value()];
            arrive(node_->output, std::visit([this](const auto &reader) { return visit(reader); }, node_->op));
        }
        return following_.is_enlarged();
    }

private:
    void arrive(ValueId id, const Part &part) {
        if (!is_result(part)) return;
        parts_[id] = part;
        ahead_.insert(readers_[size_t(id)].begin(), readers_[size_t(id)].end());
    }

    Part part_of(ValueId id) const {
        if (const auto known = parts_.find(id); known != parts_.end()) return known->second;
        const Value &value = graph_.values[size_t(id)];
        if (!value.constant) return {};
        Part part{Part::Kind::constant, false};
        if (*element_count(value.form.shape) > most_read) return part;
        const Numbers numbers = from_constant(value.form, *value.constant);
        const auto *floats = std::get_if<std::vector<double>>(&numbers.elements);
        if (!floats || floats->empty()) return part;
        const auto [least, most] = std::ranges::minmax(*floats);
        return within(part, least, most);
    }

    Part input() const { return part_of(node_->inputs[0]); }

    Part behind_epilogue(const Convolution &op, Part part) {
        for (const EpilogueStep &step : op.epilogue) {
            if (is_requantization(step.kind)) return {};
            const bool is_tensor = epilogue_form(step.kind).operand == EpilogueForm::Operand::result;
            const Part operand{is_tensor ? Part::Kind::other : Part::Kind::constant, false};
            const std::vector<Element> types{Element::f32, Element::f32};
            part = following_.of(to_term(function_of(step), types), std::vector{part, operand});
        }
        return part;
    }

    Part visit(const Elementwise &op) {
        std::vector<Part> operands;
        std::vector<Element> types;
        for (const ValueId id : node_->inputs) {
            operands.push_back(part_of(id));
            types.push_back(graph_.values[size_t(id)].form.type);
        }
        return following_.of(to_term(op.expression, types), operands);
    }
    Part visit(const Reduce &op) const {
        switch (op.kind) {
            case Reduce::Kind::sum:
                return summed(input());
            case Reduce::Kind::product:
                return unbounded(input());
            default:
                return input();
        }
    }
    Part visit(const Normalize &op) {
        if (op.kind != Normalize::Kind::mean_variance) return {};
        const double divisor = std::sqrt(op.epsilon);
        following_.divided_by(within(input(), divisor, infinity));
        return unbounded(input());
    }
    // Sums of many, so that no error of one of them matters, unless all are small where one is: the bands of a spectrum.
    Part visit(const Convolution &op) { return input().is_size ? behind_epilogue(op, unbounded(input())) : Part(); }
    Part visit(const MatrixProduct &) const {
        const Part a = part_of(node_->inputs[0]), b = part_of(node_->inputs[1]);
        return a.is_size || b.is_size ? joined({&a, &b}) : Part();
    }
    Part visit(const Pool &) const { return with_zero(input()); }
    Part visit(const Resample &op) const {
        Part taken = input();
        for (const Resample::Axis &axis : op.axes) {
            const bool is_sum = std::ranges::none_of(axis.weights, [](double weight) { return weight < 0; });
            if (!axis.weights.empty()) taken = is_sum ? summed(taken) : unbounded(taken);
        }
        return within(taken, std::min(taken.least, op.fill), std::max(taken.most, op.fill));
    }
    Part visit(const Gather &) const { return with_zero(input()); }
    Part visit(const Transpose &) const { return input(); }
    Part visit(const Reshape &) const { return input(); }
    Part visit(const Concat &) const {
        Part all = input();
        for (const ValueId id : node_->inputs) {
            const Part part = part_of(id);
            all = within(joined({&all, &part}), std::min(all.least, part.least), std::max(all.most, part.most));
        }
        return all;
    }

    const Graph &graph_;
    const std::vector<std::vector<size_t>> &readers_;
    Following following_;
    std::map<ValueId, Part> parts_;
    std::set<size_t> ahead_;  // nodes that read one of them, in their order
    const Node *node_ = nullptr;
};

// Other convolutions have direct sums anyway.
bool may_mix_sums(const Graph &graph, const Node &node) {
    const auto *op = std::get_if<Convolution>(&node.op);
    return op && op->groups == 1 && graph.values[size_t(node.output)].form.type == Element::f32;
}

}  // namespace

Graph separate_sums(const Graph &graph) {
    Graph after = graph;
    const auto readers = readers_of(graph);
    for (Node &node : after.nodes) {
        if (may_mix_sums(graph, node) && FollowedSums(graph, readers).are_enlarged(node))
            std::get<Convolution>(node.op).separate_sums = true;
    }
    return after;
}

}  // namespace kiln::graph
