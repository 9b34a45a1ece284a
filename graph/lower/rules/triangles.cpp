// CumSum and CumProd, and Trilu, OneHot and EyeLike: constants of ones and zeros, and what they choose.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

constexpr int64_t most_terms = 4096;  // of sums that are made one by one

// rows x columns of a type: 1 where `is_one` holds.
template<typename IsOne>
ValueId pattern(NodeLowering &node, Element type, const Shape &shape, const IsOne &is_one) {
    if (value_or_refusal(element_count(shape)) > most_places) refuse("it would need too large a constant");
    node.check_room(shape);
    std::vector<int64_t> ones;
    for (int64_t row = 0; row < shape[0]; row++) {
        for (int64_t column = 0; column < shape[1]; column++) ones.push_back(is_one(row, column));
    }
    if (!is_float(type)) return node.constant(Numbers{{type, shape}, std::move(ones)});
    return node.constant(Numbers{{type, shape}, std::vector<double>(ones.begin(), ones.end())});
}

// Nothing lies between kernels as an integer of 64 bits, so each sum of such is one of all elements, zeros in place of those it leaves out.
ValueId sums_of_all(NodeLowering &node, ValueId x, int axis, bool is_exclusive, bool is_reverse) {
    const int64_t extent = node.shape(x)[static_cast<size_t>(axis)];
    Shape apart = node.shape(x), ones(apart.size() + 1, 1);
    apart.insert(apart.begin() + axis, 1);
    ones[static_cast<size_t>(axis)] = ones[static_cast<size_t>(axis) + 1] = extent;
    const ValueId added = pattern(node, Element::boolean, {extent, extent}, [&](int64_t sum, int64_t element) {
        return element == sum ? !is_exclusive : (element < sum) != is_reverse;
    });
    const NumbersOf number{node.type(x)};
    const ValueId terms = node.elementwise(select(operand(1), operand(0), number(0)),
                                           {node.reshape(x, apart), node.reshape(added, ones)});
    return node.reshape(node.add(Reduce{Reduce::Kind::sum, {axis + 1}}, {terms}), node.shape(x));
}

// Behind zeros, sums of 2, 4, 8 and so on elements in a row. No element meets one that it does not add up, so what is infinite or
// no number stays where it is, and a long axis takes few steps. Products are the same behind ones.
template<Function function>
void cumulative(NodeLowering &node) {
    const ValueId x = node.input(0);
    const int axis = axis_of(node.known_integer(1, "axis"), node.rank(x));
    const int64_t extent = node.shape(x)[static_cast<size_t>(axis)];
    const bool is_exclusive = node.attributes.flag("exclusive", false),
               is_reverse = node.attributes.flag("reverse", false);
    if (function == Function::add && node.type(x) == Element::i64 && extent <= most_terms)
        return node.result(sums_of_all(node, x, axis, is_exclusive, is_reverse));
    int64_t summed = 1;
    while (summed < extent) summed *= 2;
    int64_t length = extent + summed - 1;
    const int64_t left_out = is_exclusive ? 1 : 0;
    const int64_t first = is_reverse ? left_out : 1 - summed - left_out;
    std::vector<int64_t> places = index_range(first, length);
    for (int64_t &place : places) {
        if (place < 0 || place >= extent) place = Resample::outside;
    }
    ValueId sums = take(node, x, {{axis, std::move(places)}}, function == Function::multiply ? 1 : 0);
    for (int64_t distance = 1; distance < summed; distance *= 2) {
        length -= distance;
        const auto from = [&](int64_t place) { return take(node, sums, {{axis, index_range(place, length)}}); };
        sums = node.elementwise(apply(function, operand(0), operand(1)), {from(0), from(distance)});
    }
    node.result(sums);
}

void triangle(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    if (shape.size() < 2) reject("its input of shape " + to_text(shape) + " has no rows and columns");
    const int64_t k = node.has_input(1) ? node.known_integer(1, "k") : 0;
    const bool is_upper = node.attributes.flag("upper", true);
    const int64_t rows = shape[shape.size() - 2], columns = shape.back();
    if (is_upper ? k <= 1 - rows : k >= columns - 1) return node.result(node.elementwise(operand(0), {x}));
    if (is_upper ? k >= columns : k <= -rows) {
        const auto count = static_cast<size_t>(node.elements(x));
        if (count > static_cast<size_t>(most_places)) refuse("it would need too large a constant");
        node.check_room(shape);
        Numbers zeros{{node.type(x), shape}, std::vector<int64_t>(count)};
        if (is_float(node.type(x))) zeros.elements = std::vector<double>(count);
        return node.result(node.constant(zeros));
    }
    const ValueId kept =
        pattern(node, Element::boolean, {shape[shape.size() - 2], shape.back()},
                [&](int64_t row, int64_t column) { return is_upper ? column - row >= k : column - row <= k; });
    node.result(node.elementwise(select(operand(1), operand(0), constant(0, node.type(x))), {x, kept}));
}

// Indices count from the end where they are negative; others beyond the depth have no 1.
void one_hot(NodeLowering &node) {
    const ValueId indices = node.input(0);
    const std::vector<double> depths = node.known_reals(1, "depth"), values = node.known_reals(2, "values");
    if (depths.size() != 1 || values.size() != 2) reject("it needs one depth and two values");
    if (!(std::abs(depths[0]) <= static_cast<double>(most_places)))
        reject("its depth is no number up to " + std::to_string(most_places));
    const auto depth = static_cast<int64_t>(depths[0]);
    if (depth < 1) reject("its depth is " + std::to_string(depth));
    const int axis = axis_of(node.attributes.integer("axis", -1), node.rank(indices) + 1);
    Shape shape = node.shape(indices);
    shape.insert(shape.begin() + axis, 1);
    Shape along(shape.size(), 1);
    along[static_cast<size_t>(axis)] = depth;
    node.check_room(along);
    // Small integers do not hold every depth.
    const Element stated = node.type(indices), type = size_of(stated) < 4 && !is_float(stated) ? Element::i32 : stated;
    const Element result = node.type(node.input(2));
    Numbers range{{type, along}, index_range(0, depth)};
    if (is_float(type)) {
        const std::vector<int64_t> list = index_range(0, depth);
        range.elements = std::vector<double>(list.begin(), list.end());
    }
    const Expression zero = constant(0, type), i = type == stated ? operand(0) : cast(operand(0), type);
    const Expression from_front = select(less(i, zero), i + constant(static_cast<double>(depth), type), i);
    const Expression y =
        select(equal(from_front, operand(1)), constant(values[1], result), constant(values[0], result));
    node.result(node.elementwise(y, {node.reshape(indices, shape), node.constant(range)}));
}

void eye_like(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    if (shape.size() != 2) reject("its input of shape " + to_text(shape) + " is no matrix");
    const Element type = node.attributes.type("dtype", node.type(x));
    const int64_t k = node.attributes.integer("k", 0);
    node.result(pattern(node, type, shape, [&](int64_t row, int64_t column) { return column - row == k; }));
}

constexpr Rule rows_of_triangle[] = {
    {"CumProd", 26, {2, 2}, 1, "exclusive reverse", cumulative<Function::multiply>},
    {"CumSum", 11, {2, 2}, 1, "exclusive reverse", cumulative<Function::add>},
    {"EyeLike", 9, {1, 1}, 1, "dtype k", eye_like},
    {"OneHot", 9, {3, 3}, 1, "axis", one_hot},
    {"Trilu", 14, {1, 2}, 1, "upper", triangle},
};

}  // namespace

std::span<const Rule> triangle_rules() { return rows_of_triangle; }

}  // namespace kiln::graph
