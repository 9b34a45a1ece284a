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

// Which elements of an axis a sum has.
struct Running {
    int axis = 0;
    bool is_exclusive = false, is_reverse = false;
};

// Behind zeros, sums of 2, 4, 8 and so on elements in a row. No element meets one that it does not add up, so what is infinite or
// no number stays where it is, and a long axis takes few steps. Products are the same behind ones.
template<Function function>
ValueId accumulated(NodeLowering &node, ValueId x, const Running &of) {
    const int64_t extent = node.shape(x)[static_cast<size_t>(of.axis)], left_out = of.is_exclusive ? 1 : 0;
    int64_t summed = 1;
    while (summed < extent) summed *= 2;
    int64_t length = extent + summed - 1;
    const int64_t first = of.is_reverse ? left_out : 1 - summed - left_out;
    std::vector<int64_t> places = index_range(first, length);
    for (int64_t &place : places) {
        if (place < 0 || place >= extent) place = Resample::outside;
    }
    ValueId sums = take(node, x, {{of.axis, std::move(places)}}, function == Function::multiply ? 1 : 0);
    for (int64_t distance = 1; distance < summed; distance *= 2) {
        length -= distance;
        const auto from = [&](int64_t place) { return take(node, sums, {{of.axis, index_range(place, length)}}); };
        sums = node.elementwise(apply(function, operand(0), operand(1)), {from(0), from(distance)});
    }
    return sums;
}

// Kernels exchange no integers of 64 bits, so sums of such are those of their four parts of 16 bits, which are i32. The last part has the
// sign.
ValueId accumulated_parts(NodeLowering &node, ValueId x, Running of) {
    constexpr int parts = 4;
    constexpr int64_t base = int64_t{1} << 16, most_terms = int64_t{1} << 15;
    const NumbersOf number{Element::i64};
    Shape shape = node.shape(x), along_parts(shape.size() + 1, 1), apart = shape;
    const int64_t extent = shape[static_cast<size_t>(of.axis)];
    if (extent > most_terms)
        refuse("its axis has " + std::to_string(extent) + " elements, and kiln adds up " + std::to_string(most_terms) +
               " integers of 64 bits");
    along_parts[0] = parts;
    apart.insert(apart.begin(), 1);
    std::vector<Expression> units{number(1)};
    for (int i = 1; i < parts; i++) units.push_back(number(std::pow(double(base), i)));
    const auto is_part = [&](int i) { return equal(operand(1), number(i)); };
    const Expression unit =
        select(is_part(0), units[0], select(is_part(1), units[1], select(is_part(2), units[2], units[3])));
    const Expression whole = (operand(0) - apply(Function::remainder, operand(0), unit)) / unit;
    const Expression part = select(is_part(3), whole, apply(Function::remainder, whole, units[1]));
    const ValueId which = node.constant(Numbers{{Element::i64, along_parts}, index_range(0, parts)});
    const ValueId split = node.elementwise(cast(part, Element::i32), {node.reshape(x, apart), which});
    of.axis++;
    const ValueId sums = accumulated<Function::add>(node, split, of);
    Expression total = number(0);
    std::vector<ValueId> inputs;
    for (int i = 0; i < parts; i++) {
        total = total + cast(operand(i), Element::i64) * units[static_cast<size_t>(i)];
        inputs.push_back(node.reshape(take(node, sums, {{0, {i}}}), shape));
    }
    return node.elementwise(total, inputs);
}

template<Function function>
void cumulative(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Running of{.axis = axis_of(node.known_integer(1, "axis"), node.rank(x)),
                     .is_exclusive = node.attributes.flag("exclusive", false),
                     .is_reverse = node.attributes.flag("reverse", false)};
    const bool is_wide = function == Function::add && node.type(x) == Element::i64 && !node.is_known(0);
    node.result(is_wide ? accumulated_parts(node, x, of) : accumulated<function>(node, x, of));
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
