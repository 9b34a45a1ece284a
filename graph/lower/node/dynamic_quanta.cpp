#include "graph/lower/node/dynamic_quanta.h"

#include <string>
#include <utility>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

// All elements of x together, with 0 among them.
ValueId bound_of_all(NodeLowering &node, ValueId x, Reduce::Kind kind) {
    Reduce reduce{.kind = kind, .axes = {}};
    for (int axis = 0; axis < node.rank(x); axis++) reduce.axes.push_back(axis);
    const ValueId bound = reduce.axes.empty() ? x : node.reshape(node.add(std::move(reduce), {x}), {});
    const Expression zero = constant(0);
    return node.elementwise(kind == Reduce::Kind::maximum ? greatest(operand(0), zero) : least(operand(0), zero),
                            {bound});
}

// Rounded to f32 as a scale is, wherever it is computed: quanta of halves depend on its last place.
Expression dynamic_scale(Expression most, Expression least) {
    const auto rounded = [](Expression x) { return cast(cast(std::move(x), Element::f64), Element::f32); };
    const Expression range = rounded(std::move(most) - std::move(least));
    return cast(cast(range, Element::f64) / constant(255, Element::f64), Element::f32);
}

}  // namespace

DynamicQuanta quantized_dynamically(NodeLowering &node, ValueId x) {
    if (node.type(x) != Element::f32) reject("its input is " + std::string(name(node.type(x))) + "; needs f32");
    const ValueId most = bound_of_all(node, x, Reduce::Kind::maximum),
                  least_of_all = bound_of_all(node, x, Reduce::Kind::minimum);
    const ValueId scale =
        node.elementwise(select(equal(operand(0), operand(1)), constant(1), dynamic_scale(operand(0), operand(1))),
                         {most, least_of_all});
    const auto stored = [](const Expression &number) {
        return cast(least(greatest(number, constant(0)), constant(255)), Element::u8);
    };
    const auto rounded = [](Expression number) { return apply(Function::round, std::move(number)); };
    const ValueId zero_point = node.elementwise(stored(rounded(-(operand(0) / operand(1)))), {least_of_all, scale});
    const Expression number = rounded(operand(0) / operand(1)) + cast(operand(2), Element::f32);
    return {node.elementwise(stored(number), {x, scale, zero_point}), scale, zero_point};
}

ValueId rounded_dynamically(NodeLowering &node, ValueId x) {
    const DynamicQuanta quanta = quantized_dynamically(node, x);
    return node.elementwise(dequantization(ZeroPoint::operand), {quanta.numbers, quanta.scale, quanta.zero_point});
}

}  // namespace kiln::graph
