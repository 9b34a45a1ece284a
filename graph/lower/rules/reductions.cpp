// Reductions along axes, and the places of greatest and least elements.
#include <limits>
#include <numeric>

#include "graph/lower/composed/top_k.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

std::vector<int> every_axis(int rank) {
    std::vector<int> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

// Axes are an attribute, from `input_since` on an input. Without any, all axes are meant unless noop_with_empty_axes says none.
std::vector<int> reduced_axes(const NodeLowering &node, int64_t input_since) {
    const int rank = node.rank(node.input(0));
    std::vector<int64_t> axes;
    if (node.opset() < input_since) axes = node.attributes.integers("axes");
    if (node.opset() >= input_since && node.has_input(1)) axes = node.known_integers(1, "axes");
    if (!axes.empty()) return axes_of(axes, rank);
    const bool none = node.opset() >= input_since && node.attributes.flag("noop_with_empty_axes", false);
    return none ? std::vector<int>() : every_axis(rank);
}

ValueId without_axes(NodeLowering &node, ValueId value, const std::vector<int> &axes) {
    const Shape shape = node.shape(value);
    Shape kept;
    for (int d = 0; d < node.rank(value); d++) {
        if (std::find(axes.begin(), axes.end(), d) == axes.end()) kept.push_back(shape[d]);
    }
    return node.reshape(value, kept);
}

ValueId reduce(NodeLowering &node, Reduce::Kind kind, const std::vector<int> &axes, ValueId value) {
    return axes.empty() ? value : node.add(Reduce{kind, axes}, {value});
}

ValueId each(NodeLowering &node, const Expression &expression, ValueId value) {
    return node.elementwise(expression, {value});
}

using Axes = std::vector<int>;

template<Reduce::Kind kind>
ValueId plain(NodeLowering &node, const Axes &axes, ValueId x) {
    return reduce(node, kind, axes, x);
}

// Of integers: a sum, divided towards zero as onnxruntime does. A sum beyond the type wraps around, which that of i32 does not there.
ValueId mean_along(NodeLowering &node, const Axes &axes, ValueId x) {
    const Element type = node.type(x);
    if (is_float(type) || axes.empty()) return reduce(node, Reduce::Kind::mean, axes, x);
    int64_t count = 1;
    for (const int axis : axes) count *= node.shape(x)[static_cast<size_t>(axis)];
    const NumbersOf number{type};
    return each(node, operand(0) / number(static_cast<double>(count)), reduce(node, Reduce::Kind::sum, axes, x));
}

ValueId sum_of_absolutes(NodeLowering &node, const Axes &axes, ValueId x) {
    return reduce(node, Reduce::Kind::sum, axes, each(node, absolute(operand(0)), x));
}

ValueId sum_of_squares(NodeLowering &node, const Axes &axes, ValueId x) {
    return reduce(node, Reduce::Kind::sum, axes, each(node, operand(0) * operand(0), x));
}

// Of integers, too: what is cut off of the function is what a cast cuts off.
template<Expression (*function)(Expression)>
ValueId function_of_sum(NodeLowering &node, ValueId sum) {
    const Element type = node.type(sum);
    if (is_float(type)) return each(node, function(operand(0)), sum);
    return each(node, cast(function(cast(operand(0), Element::f64)), type), sum);
}

ValueId euclidean_norm(NodeLowering &node, const Axes &axes, ValueId x) {
    return function_of_sum<square_root>(node, sum_of_squares(node, axes, x));
}

ValueId log_of_sum(NodeLowering &node, const Axes &axes, ValueId x) {
    return function_of_sum<logarithm>(node, reduce(node, Reduce::Kind::sum, axes, x));
}

// The maximum is taken out of the exponentials, so that none overflows. Where it is infinite, the result is the same without
// that.
ValueId log_of_sum_of_exponentials(NodeLowering &node, const Axes &axes, ValueId x) {
    const Element type = node.type(x);
    if (!is_float(type)) {
        const ValueId floats = node.converted(x, Element::f32);
        return node.converted(log_of_sum_of_exponentials(node, axes, floats), type);
    }
    const NumbersOf number{type};
    const Expression finite = select(apply(Function::is_infinite, operand(0)), number(0), operand(0));
    const ValueId most = each(node, finite, reduce(node, Reduce::Kind::maximum, axes, x));
    const ValueId scaled = node.elementwise(exponential(operand(0) - operand(1)), {x, most});
    const ValueId sum = reduce(node, Reduce::Kind::sum, axes, scaled);
    return node.elementwise(logarithm(operand(0)) + operand(1), {sum, most});
}

template<ValueId (*reduction)(NodeLowering &, const Axes &, ValueId), int64_t input_since = 18>
void reduction_rule(NodeLowering &node) {
    const std::vector<int> axes = reduced_axes(node, input_since);
    const ValueId y = reduction(node, axes, node.input(0));
    node.result(node.attributes.flag("keepdims", true) ? y : without_axes(node, y, axes));
}

// What a reduction of extremes takes for a NaN: a number that changes none of them. Else the kernels' answer would depend on where in
// a vector the NaN stands.
ValueId extreme_of_numbers(NodeLowering &node, ValueId x, int axis, Reduce::Kind kind) {
    const Element type = node.type(x);
    if (!is_float(type)) return node.add(Reduce{kind, {axis}}, {x});
    const double infinity = std::numeric_limits<double>::infinity();
    const Expression least_wanted = constant(kind == Reduce::Kind::maximum ? -infinity : infinity, type);
    return node.add(Reduce{kind, {axis}}, {each(node, unless_nan(operand(0), least_wanted), x)});
}

// The place of the first or last extreme element along an axis: the least or greatest of the places that hold it. A NaN is none,
// unless it is the first element, which then is the place, as onnxruntime has it. What stands for no place lies inside of the axis,
// too, so that no answer is outside.
ValueId place_of_extreme(NodeLowering &node, ValueId x, int axis, Reduce::Kind kind, bool last) {
    const int64_t extent = node.shape(x)[axis];
    if (extent == 0) reject("there is no element along axis " + std::to_string(axis));
    const NumbersOf place{Element::i64};
    const Expression none = place(last ? 0 : static_cast<double>(extent - 1));
    const Expression beyond = place(static_cast<double>(extent));  // which no other place is greater than
    Expression found = select(equal(operand(0), operand(1)), operand(2), none);
    if (is_float(node.type(x))) {
        const Expression of_nan = select(equal(operand(2), place(0)), last ? beyond : place(0), none);
        found = select(apply(Function::is_nan, operand(0)), of_nan, found);
    }
    const ValueId extreme = extreme_of_numbers(node, x, axis, kind);
    const ValueId candidates =
        node.elementwise(found, {x, extreme, counted_along(node, extent, axis, node.rank(x), Element::i64)});
    const ValueId chosen = node.add(Reduce{last ? Reduce::Kind::maximum : Reduce::Kind::minimum, {axis}}, {candidates});
    if (!last || !is_float(node.type(x))) return chosen;
    return each(node, select(equal(operand(0), beyond), place(0), operand(0)), chosen);
}

template<Reduce::Kind kind>
void arg_extreme(NodeLowering &node) {
    const ValueId x = node.input(0);
    const int axis = axis_of(node.attributes.integer("axis", 0), node.rank(x));
    const ValueId y = place_of_extreme(node, x, axis, kind, node.attributes.flag("select_last_index", false));
    node.result(node.attributes.flag("keepdims", true) ? y : without_axes(node, y, {axis}));
}

// 1 at the first greatest element along an axis, where it is a number. Before opset 13 all axes from `axis` on are one.
void hardmax(NodeLowering &node) {
    const Shape shape = node.shape(node.input(0));
    const int rank = static_cast<int>(shape.size());
    ValueId x = node.input(0);
    int axis = 0;
    if (node.opset() < 13) {
        const int64_t first = node.attributes.integer("axis", 1);
        const int split = first == rank ? rank : axis_of(first, rank);
        Shape flat{1, 1};
        for (int d = 0; d < rank; d++) flat[d < split ? 0 : 1] *= shape[d];
        x = node.reshape(x, flat);
        axis = 1;
    } else {
        axis = axis_of(node.attributes.integer("axis", -1), rank);
    }
    const Element type = node.type(x);
    const ValueId place = place_of_extreme(node, x, axis, Reduce::Kind::maximum, false);
    const ValueId all = counted_along(node, node.shape(x)[axis], axis, node.rank(x), Element::i64);
    Expression is_here = equal(operand(0), operand(1));
    std::vector<ValueId> inputs{place, all};
    if (is_float(type)) {
        const Expression is_number = apply(Function::logical_not, apply(Function::is_nan, operand(2)));
        is_here = apply(Function::logical_and, is_here, is_number);
        inputs.push_back(x);
    }
    const ValueId y = node.elementwise(cast(std::move(is_here), type), std::move(inputs));
    node.result(node.reshape(y, shape));
}

constexpr std::string_view with_axes = "axes keepdims", with_noop = "keepdims noop_with_empty_axes";

constexpr Rule rows_of_reduction[] = {
    {"ArgMax", 1, {1, 1}, 1, "axis keepdims", arg_extreme<Reduce::Kind::maximum>},
    {"ArgMax", 12, {1, 1}, 1, "axis keepdims select_last_index", arg_extreme<Reduce::Kind::maximum>},
    {"ArgMin", 1, {1, 1}, 1, "axis keepdims", arg_extreme<Reduce::Kind::minimum>},
    {"ArgMin", 12, {1, 1}, 1, "axis keepdims select_last_index", arg_extreme<Reduce::Kind::minimum>},
    {"Hardmax", 1, {1, 1}, 1, "axis", hardmax},
    {"ReduceL1", 1, {1, 1}, 1, with_axes, reduction_rule<sum_of_absolutes>},
    {"ReduceL1", 18, {1, 2}, 1, with_noop, reduction_rule<sum_of_absolutes>},
    {"ReduceL2", 1, {1, 1}, 1, with_axes, reduction_rule<euclidean_norm>},
    {"ReduceL2", 18, {1, 2}, 1, with_noop, reduction_rule<euclidean_norm>},
    {"ReduceLogSum", 1, {1, 1}, 1, with_axes, reduction_rule<log_of_sum>},
    {"ReduceLogSum", 18, {1, 2}, 1, with_noop, reduction_rule<log_of_sum>},
    {"ReduceLogSumExp", 1, {1, 1}, 1, with_axes, reduction_rule<log_of_sum_of_exponentials>},
    {"ReduceLogSumExp", 18, {1, 2}, 1, with_noop, reduction_rule<log_of_sum_of_exponentials>},
    {"ReduceMax", 1, {1, 1}, 1, with_axes, reduction_rule<plain<Reduce::Kind::maximum>>},
    {"ReduceMax", 18, {1, 2}, 1, with_noop, reduction_rule<plain<Reduce::Kind::maximum>>},
    {"ReduceMean", 1, {1, 1}, 1, with_axes, reduction_rule<mean_along>},
    {"ReduceMean", 18, {1, 2}, 1, with_noop, reduction_rule<mean_along>},
    {"ReduceMin", 1, {1, 1}, 1, with_axes, reduction_rule<plain<Reduce::Kind::minimum>>},
    {"ReduceMin", 18, {1, 2}, 1, with_noop, reduction_rule<plain<Reduce::Kind::minimum>>},
    {"ReduceProd", 1, {1, 1}, 1, with_axes, reduction_rule<plain<Reduce::Kind::product>>},
    {"ReduceProd", 18, {1, 2}, 1, with_noop, reduction_rule<plain<Reduce::Kind::product>>},
    {"ReduceSum", 1, {1, 1}, 1, with_axes, reduction_rule<plain<Reduce::Kind::sum>, 13>},
    {"ReduceSum", 13, {1, 2}, 1, with_noop, reduction_rule<plain<Reduce::Kind::sum>, 13>},
    {"ReduceSumSquare", 1, {1, 1}, 1, with_axes, reduction_rule<sum_of_squares>},
    {"ReduceSumSquare", 18, {1, 2}, 1, with_noop, reduction_rule<sum_of_squares>},
    {"TopK", 1, {1, 1}, 2, "axis k", top_k},
    {"TopK", 10, {2, 2}, 2, "axis", top_k},
    {"TopK", 11, {2, 2}, 2, "axis largest sorted", top_k},
};

}  // namespace

std::span<const Rule> reduction_rules() { return rows_of_reduction; }

}  // namespace kiln::graph
