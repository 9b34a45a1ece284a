#include "graph/rewriting/value_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <variant>
#include <vector>

namespace kiln::graph {
namespace {

using scalar::Function;
using scalar::Step;
using Known = std::optional<ValueRange>;

// Values further before are unknown, so that no graph is too deep.
constexpr int most_nodes = 64;

// All that a type has; nothing where f64 may not have it.
Known whole_type(Element type) {
    if (type == Element::boolean) return ValueRange{0, 1};
    if (is_float(type) || scalar::size_of(type) == 8) return {};
    const bool is_signed = type == Element::i8 || type == Element::i16 || type == Element::i32;
    const double count = std::ldexp(1.0, 8 * scalar::size_of(type));
    return is_signed ? ValueRange{-count / 2, count / 2 - 1} : ValueRange{0, count - 1};
}

// What an integer type cannot hold wraps around: then it may be anything of the type.
Known held_by(const Known &range, Element type) {
    if (!range || is_float(type)) return range;
    const bool is_u64 = type == Element::u64, is_wide = is_u64 || type == Element::i64;
    const ValueRange most = is_wide ? ValueRange{is_u64 ? 0 : -0x1p62, 0x1p62} : *whole_type(type);
    return range->lo >= most.lo && range->hi <= most.hi ? range : whole_type(type);
}

Known converted(const Known &from, Element from_type, Element type) {
    if (type == Element::boolean) return whole_type(type);
    if (is_float(type)) return from;
    if (!from) return whole_type(type);
    ValueRange whole{std::trunc(from->lo), std::trunc(from->hi)};
    if (is_float(from_type)) whole = {std::min(whole.lo, 0.0), std::max(whole.hi, 0.0)};  // a NaN becomes 0
    return held_by(whole, type);
}

// Of a function that is monotone in each argument while the other stays.
Known of_corners(const ValueRange &a, const ValueRange &b, double (*apply)(double, double)) {
    const double corners[] = {apply(a.lo, b.lo), apply(a.lo, b.hi), apply(a.hi, b.lo), apply(a.hi, b.hi)};
    if (std::ranges::any_of(corners, [](double corner) { return std::isnan(corner); })) return {};
    return ValueRange{std::ranges::min(corners), std::ranges::max(corners)};
}

double size_of_largest(const ValueRange &x) { return std::max(std::fabs(x.lo), std::fabs(x.hi)); }

Known of_one(Function function, const Known &x) {
    if (function == Function::sign) return ValueRange{-1, 1};
    if (!x) return {};
    switch (function) {
        case Function::negate:
            return ValueRange{-x->hi, -x->lo};
        case Function::absolute:
            return ValueRange{x->lo <= 0 && x->hi >= 0 ? 0 : std::min(std::fabs(x->lo), std::fabs(x->hi)),
                              size_of_largest(*x)};
        case Function::floor:
            return ValueRange{std::floor(x->lo), std::floor(x->hi)};
        case Function::ceil:
            return ValueRange{std::ceil(x->lo), std::ceil(x->hi)};
        case Function::round:
            return ValueRange{std::nearbyint(x->lo), std::nearbyint(x->hi)};
        default:
            return {};
    }
}

// One of two numbers, of which one may be anything.
Known extreme_range(Function function, const Known &a, const Known &b) {
    if (!a && !b) return {};
    constexpr double end = std::numeric_limits<double>::infinity();
    const ValueRange x = a.value_or(ValueRange{-end, end}), y = b.value_or(ValueRange{-end, end});
    if (function == Function::minimum) return ValueRange{std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
    return ValueRange{std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
}

bool has_zero(const ValueRange &x) { return x.lo <= 0 && x.hi >= 0; }

Known quotient_range(const ValueRange &a, const ValueRange &b, Element type) {
    if (has_zero(b)) return {};
    const Known range = of_corners(a, b, [](double x, double y) { return x / y; });
    if (!range || is_float(type)) return range;
    return ValueRange{std::trunc(range->lo), std::trunc(range->hi)};
}

// Powers of floats are rounded.
Known power_range(const ValueRange &a, const ValueRange &b, Element type) {
    if (is_float(type) || b.lo < 0) return {};
    const double most = std::max(1.0, std::pow(size_of_largest(a), b.hi));
    return ValueRange{a.lo < 0 ? -most : 0, most};
}

Known of_two(Function function, const Known &a, const Known &b, Element type) {
    if (function == Function::minimum || function == Function::maximum) return extreme_range(function, a, b);
    // The remainder has the sign of the divisor.
    if (function == Function::remainder && b && !has_zero(*b))
        return ValueRange{std::min(b->lo, 0.0), std::max(b->hi, 0.0)};
    if (!a || !b) return {};
    switch (function) {
        case Function::add:
            return of_corners(*a, *b, [](double x, double y) { return x + y; });
        case Function::subtract:
            return of_corners(*a, *b, [](double x, double y) { return x - y; });
        case Function::multiply:
            return of_corners(*a, *b, [](double x, double y) { return x * y; });
        case Function::divide:
            return quotient_range(*a, *b, type);
        case Function::power:
            return power_range(*a, *b, type);
        default:
            return {};
    }
}

Known joined(const Known &a, const Known &b) {
    if (!a || !b) return {};
    return ValueRange{std::min(a->lo, b->lo), std::max(a->hi, b->hi)};
}

Known of_constant(const Numbers &numbers) {
    return std::visit(
        [](const auto &elements) -> Known {
            ValueRange range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
            for (const auto element : elements) {
                const auto number = static_cast<double>(element);
                if (!std::isfinite(number)) return {};
                range = {std::min(range.lo, number), std::max(range.hi, number)};
            }
            return elements.empty() ? Known() : Known(range);
        },
        numbers.elements);
}

struct Typed {
    Known range;
    Element type = Element::f32;
};

// What a step that is no operand makes of its arguments. Conditions have the range of their type, whatever is compared.
Typed of_step(const Step &step, const Typed *arguments) {
    switch (step.function) {
        case Function::constant:
            return {std::isfinite(step.number) ? Known(ValueRange{step.number, step.number}) : Known(), step.type};
        case Function::cast:
            return {converted(arguments[0].range, arguments[0].type, step.type), step.type};
        case Function::select:
            return {joined(arguments[1].range, arguments[2].range), arguments[1].type};
        case Function::logical_not:
        case Function::is_nan:
        case Function::is_infinite:
        case Function::equal:
        case Function::less:
        case Function::less_or_equal:
        case Function::logical_and:
        case Function::logical_or:
        case Function::logical_xor:
            return {whole_type(Element::boolean), Element::boolean};
        default:
            break;
    }
    const Element type = arguments[0].type;
    const Known range = scalar::argument_count(step.function) == 1
                            ? of_one(step.function, arguments[0].range)
                            : of_two(step.function, arguments[0].range, arguments[1].range, type);
    const bool wraps = step.function != Function::minimum && step.function != Function::maximum;
    const Known held = wraps ? held_by(range, type) : range;
    return {held ? held : whole_type(type), type};
}

class Ranges {
public:
    explicit Ranges(const Rewriting &graph) : graph_(graph) {}

    // `nodes`: how many nodes before it are looked at.
    Known of_value(ValueId id, int nodes) {
        const auto [known, is_new] = known_.emplace(id, std::nullopt);
        if (!is_new) return known->second;
        known->second = computed(id, nodes);
        if (!known->second) known->second = whole_type(graph_.value(id).form.type);
        return known->second;
    }

    Known of_expression(const scalar::Expression &expression, const std::vector<ValueId> &inputs, int nodes) {
        std::vector<Typed> stack;
        for (const Step &step : expression.steps) {
            const auto count = size_t(scalar::argument_count(step.function));
            const Typed *arguments = stack.data() + (stack.size() - count);
            const Typed result = step.function == Function::operand
                                     ? Typed{of_value(inputs[size_t(step.operand)], nodes),
                                             graph_.value(inputs[size_t(step.operand)]).form.type}
                                     : of_step(step, arguments);
            stack.resize(stack.size() - count);
            stack.push_back(result);
        }
        return stack.back().range;
    }

    Known of_result(const Node &node, int nodes) {
        if (const auto *op = std::get_if<Elementwise>(&node.op)) {
            return of_expression(op->expression, node.inputs, nodes);
        }
        if (const auto *op = std::get_if<Reduce>(&node.op)) {
            if (op->kind == Reduce::Kind::sum) return of_sum(*op, node.inputs[0], nodes);
            const bool takes_one = op->kind == Reduce::Kind::maximum || op->kind == Reduce::Kind::minimum;
            return takes_one ? of_inputs(node, nodes) : Known();
        }
        if (const auto *op = std::get_if<Resample>(&node.op)) {
            const bool is_weighted =
                std::ranges::any_of(op->axes, [](const Resample::Axis &axis) { return !axis.weights.empty(); });
            return is_weighted ? Known() : joined(of_inputs(node, nodes), ValueRange{op->fill, op->fill});
        }
        if (std::holds_alternative<Gather>(node.op)) {
            return joined(of_value(node.inputs[0], nodes), ValueRange{0, 0});
        }
        const bool moves = std::holds_alternative<Transpose>(node.op) || std::holds_alternative<Reshape>(node.op) ||
                           std::holds_alternative<Concat>(node.op);
        return moves ? of_inputs(node, nodes) : Known();
    }

private:
    Known computed(ValueId id, int nodes) {
        if (graph_.is_constant(id)) return of_constant(graph_.numbers(id));
        const Node *node = graph_.producer(id);
        return node && nodes > 0 ? of_result(*node, nodes - 1) : Known();
    }

    // As often as elements are added up. Sums of floats are rounded, those of integers in f32 are not.
    Known of_sum(const Reduce &op, ValueId input, int nodes) {
        const Known each = of_value(input, nodes);
        const TypedShape &form = graph_.value(input).form;
        if (!each) return {};
        double count = 1;
        for (const int axis : op.axes) count *= static_cast<double>(form.shape[static_cast<size_t>(axis)]);
        const double rounding = is_float(form.type) ? 1 + count * 0x1p-23 : 1;
        if (count == 0) return ValueRange{0, 0};
        return held_by(
            ValueRange{std::min(each->lo, 0.0) * count * rounding, std::max(each->hi, 0.0) * count * rounding},
            form.type);
    }

    // Of an operator whose elements are some of its inputs'.
    Known of_inputs(const Node &node, int nodes) {
        Known all = of_value(node.inputs[0], nodes);
        for (const ValueId id : node.inputs) all = joined(all, of_value(id, nodes));
        return all;
    }

    const Rewriting &graph_;
    std::map<ValueId, Known> known_;
};

}  // namespace

std::optional<ValueRange> range_of(const Rewriting &graph, const scalar::Expression &expression,
                                   const std::vector<ValueId> &inputs) {
    return Ranges(graph).of_expression(expression, inputs, most_nodes);
}

std::optional<ValueRange> range_of(const Rewriting &graph, const Node &node) {
    return Ranges(graph).of_result(node, most_nodes);
}

}  // namespace kiln::graph
