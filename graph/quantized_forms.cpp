#include "graph/quantized_forms.h"

#include <algorithm>
#include <utility>

namespace kiln::graph {
namespace {

// Without a zero point nothing is subtracted: bias has numbers that are no f32, which are rounded as a cast rounds them.
Expression stored_number(ZeroPoint zero_point) {
    if (zero_point == ZeroPoint::none) return cast(operand(0), Element::f32);
    return cast(apply(Function::subtract, cast(operand(0), Element::i32), cast(operand(2), Element::i32)),
                Element::f32);
}

constexpr ZeroPoint both[] = {ZeroPoint::none, ZeroPoint::operand};

}  // namespace

Expression dequantization(ZeroPoint zero_point) {
    return apply(Function::multiply, stored_number(zero_point), operand(1));
}

Expression quantization(Element to, ZeroPoint zero_point) {
    Expression number = apply(Function::round, apply(Function::divide, operand(0), operand(1)));
    if (zero_point == ZeroPoint::operand)
        number = apply(Function::add, std::move(number), cast(operand(2), Element::f32));
    const QuantumRange range = range_of_quanta(to);
    number =
        apply(Function::minimum, apply(Function::maximum, std::move(number), constant(range.lo)), constant(range.hi));
    return cast(std::move(number), to);
}

Expression without_zero_point() {
    return apply(Function::subtract, cast(operand(0), Element::i32), cast(operand(1), Element::i32));
}

Expression without_zero_point_in_floats() { return cast(without_zero_point(), Element::f32); }

bool is_dequantization(const Elementwise &op) {
    return std::ranges::any_of(both, [&](ZeroPoint z) { return op.expression == dequantization(z); });
}

bool is_quantization(const Elementwise &op) {
    if (op.expression.steps.empty() || op.expression.steps.back().function != Function::cast) return false;
    const Element type = op.expression.steps.back().type;
    if (!holds_quanta(type)) return false;
    return std::ranges::any_of(both, [&](ZeroPoint z) { return op.expression == quantization(type, z); });
}

bool is_without_zero_point(const Elementwise &op) { return op.expression == without_zero_point(); }

bool is_without_zero_point_in_floats(const Elementwise &op) { return op.expression == without_zero_point_in_floats(); }

bool is_kept_for_passes(const Operator &op) {
    const auto *elementwise = std::get_if<Elementwise>(&op);
    return elementwise && (is_dequantization(*elementwise) || is_without_zero_point(*elementwise));
}

bool holds_quanta(Element type) { return range_of_quanta(type).hi != 0; }

bool quantizes(const Expression &expression) {
    return std::ranges::any_of(
        expression.steps, [](const Step &step) { return step.function == Function::cast && holds_quanta(step.type); });
}

QuantumRange range_of_quanta(Element type) {
    switch (type) {
        case Element::i8:
            return {-128, 127};
        case Element::u8:
            return {0, 255};
        case Element::i16:
            return {-32768, 32767};
        case Element::u16:
            return {0, 65535};
        default:
            return {};
    }
}

}  // namespace kiln::graph
