#include "graph/lower/composed/sampled_map.h"

#include <utility>

#include "graph/lower/node/formulas.h"

namespace kiln::graph {
namespace {

ValueId interpolated_behind(NodeLowering &node, const SampledMap &map, const Taps &taps, std::vector<int> behind) {
    const size_t axis = behind.size();
    if (axis == map.extents.size()) return lines_at(node, map, behind);
    std::vector<ValueId> inputs{map.places[axis]};
    Expression sum;
    behind.push_back(0);
    for (int i = 0; i < taps.count; i++) {
        behind.back() = taps.first + i;
        const Expression term = taps.weight(operand(0), behind.back()) * operand(1 + i);
        sum = i == 0 ? term : sum + term;
        inputs.push_back(interpolated_behind(node, map, taps, behind));
    }
    return node.elementwise(sum, inputs);
}

}  // namespace

Expression floor_of(Expression x) { return apply(Function::floor, std::move(x)); }

Expression linear_weight(const Expression &place, int tap) {
    const Expression behind = place - floor_of(place);
    return tap ? behind : NumbersOf{}(1) - behind;
}

ValueId lines_at(NodeLowering &node, const SampledMap &map, const std::vector<int> &behind) {
    const NumbersOf number{}, integer{Element::i32};
    Expression index, is_inside;
    std::vector<ValueId> inputs = map.places;
    for (size_t d = 0; d < map.extents.size(); d++) {
        const auto extent = static_cast<double>(map.extents[d]);
        Expression pixel = floor_of(operand(static_cast<int>(d))) + number(behind[d]);
        if (map.led_inside) pixel = map.led_inside(pixel, map.extents[d]);
        const Expression whole = scalar::cast(pixel, Element::i32);
        const Expression is_behind_first = apply(Function::less_or_equal, number(0), pixel);
        const Expression is_within = apply(Function::logical_and, is_behind_first, less(pixel, number(extent)));
        index = d == 0 ? whole : index * integer(extent) + whole;
        is_inside = d == 0 ? is_within : apply(Function::logical_and, is_inside, is_within);
    }
    if (map.step != 1) index = index * integer(static_cast<double>(map.step));
    if (map.first) {
        index = index + operand(static_cast<int>(inputs.size()));
        inputs.push_back(*map.first);
    }
    const ValueId places = node.elementwise(select(is_inside, index, integer(-1)), std::move(inputs));
    const ValueId lines = node.add(Gather{map.axis}, {map.lines, node.reshape(places, {node.elements(places)})});
    if (map.axis != 0) return lines;
    Shape shape = node.shape(places);
    shape.back() = node.shape(map.lines)[1];
    return node.reshape(lines, shape);
}

ValueId interpolated(NodeLowering &node, const SampledMap &map, const Taps &taps) {
    return interpolated_behind(node, map, taps, {});
}

}  // namespace kiln::graph
