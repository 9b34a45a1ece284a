#include "graph/passes/factors/affine.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "graph/evaluate/operator_loops.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {
namespace {

// Numbers are listed for each: layers have thousands.
constexpr int64_t most_channels = 1 << 20;

// Whether terms of it may be a Form. Others are not read, for that lists numbers.
bool joins_forms(Function function) {
    return function == Function::negate || function == Function::add || function == Function::subtract ||
           function == Function::multiply || function == Function::divide;
}

// A term as scale * x + shift; without x the scale is 0 everywhere.
struct Form {
    Affine values;
    bool has_x = false;
};

class Reader {
public:
    Reader(const Rewriting &graph, ValueId x, Shape shape, int axis)
        : graph_(graph), x_(x), shape_(std::move(shape)), axis_(axis), channels_(shape_[axis]) {}

    std::optional<Form> read(const Term &term) const {
        if (is_number(term)) return constant(std::vector<double>(channels_, term.step.number));
        if (is(term, Function::operand)) {
            if (term.step.operand != x_) return channels(term.step.operand);
            return Form{{std::vector<double>(channels_, 1), std::vector<double>(channels_, 0)}, true};
        }
        if (!joins_forms(term.step.function)) return {};
        std::vector<Form> arguments;
        for (const Term &argument : term.arguments) {
            auto form = read(argument);
            if (!form) return {};
            arguments.push_back(std::move(*form));
        }
        return combined(term.step.function, arguments);
    }

private:
    Form constant(std::vector<double> shift) const {
        return {{std::vector<double>(channels_, 0), std::move(shift)}, false};
    }

    // A constant operand as a number for each channel.
    std::optional<Form> channels(ValueId id) const {
        if (!graph_.is_constant(id)) return {};
        Shape shape = graph_.shape(id);
        shape.insert(shape.begin(), shape_.size() - shape.size(), 1);
        for (size_t i = 0; i < shape.size(); i++) {
            if (shape[i] != 1 && static_cast<int>(i) != axis_) return {};
        }
        const Numbers numbers = graph_.numbers(id);
        const auto *elements = std::get_if<std::vector<double>>(&numbers.elements);
        if (!elements) return {};
        return constant(elements->size() == 1 ? std::vector<double>(channels_, elements->front()) : *elements);
    }

    std::optional<Form> combined(Function function, const std::vector<Form> &arguments) const {
        if (function == Function::negate) return scaled(arguments[0], constant(std::vector<double>(channels_, -1)));
        if (arguments.size() != 2) return {};
        const Form &a = arguments[0], &b = arguments[1];
        switch (function) {
            case Function::add:
                return sum(a, b, 1);
            case Function::subtract:
                return sum(a, b, -1);
            case Function::multiply:
                if (a.has_x && b.has_x) return {};
                return b.has_x ? scaled(b, a) : scaled(a, b);
            case Function::divide: {
                if (b.has_x) return {};
                Form inverse = b;
                for (double &number : inverse.values.shift) number = 1 / number;
                inverse.values.divides = true;
                return scaled(a, inverse);
            }
            default:
                return {};
        }
    }

    static Form sum(Form a, const Form &b, double sign) {
        for (size_t c = 0; c < a.values.scale.size(); c++) {
            a.values.scale[c] += sign * b.values.scale[c];
            a.values.shift[c] += sign * b.values.shift[c];
        }
        a.has_x |= b.has_x;
        a.values.divides |= b.values.divides;
        return a;
    }

    static Form scaled(Form a, const Form &by) {
        for (size_t c = 0; c < a.values.scale.size(); c++) {
            a.values.scale[c] *= by.values.shift[c];
            a.values.shift[c] *= by.values.shift[c];
        }
        a.values.divides |= by.values.divides;
        return a;
    }

    const Rewriting &graph_;
    const ValueId x_;
    const Shape shape_;
    const int axis_;
    const size_t channels_;
};

}  // namespace

std::optional<Affine> affine(const Rewriting &graph, const Node &node, int index, int axis) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op || !is_float(graph.value(node.inputs[index]).form.type)) return {};
    if (graph.shape(node.inputs[index]) != op->shape || op->shape[axis] > most_channels) return {};
    const auto form = Reader(graph, node.inputs[index], op->shape, axis).read(term_of(graph, node));
    if (!form || !form->has_x) return {};
    for (size_t c = 0; c < form->values.scale.size(); c++) {
        if (!std::isfinite(form->values.scale[c]) || !std::isfinite(form->values.shift[c])) return {};
    }
    return form->values;
}

std::optional<Affine> composed(const Affine &outer, const Affine &inner, Element type) {
    Affine both{.scale = {}, .shift = {}, .divides = outer.divides || inner.divides};
    for (size_t c = 0; c < inner.scale.size(); c++) {
        const double scale = rounded(type, outer.scale[c] * inner.scale[c]);
        const double shift = rounded(type, outer.scale[c] * inner.shift[c] + outer.shift[c]);
        if (!std::isfinite(scale) || !std::isfinite(shift)) return {};
        const bool is_zero = outer.scale[c] == 0 || inner.scale[c] == 0;
        if (!is_zero && std::abs(scale) < smallest_normal(type)) return {};
        both.scale.push_back(scale);
        both.shift.push_back(shift);
    }
    return both;
}

}  // namespace kiln::graph
