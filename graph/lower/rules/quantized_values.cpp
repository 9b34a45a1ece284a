#include "graph/lower/rules/quantized_values.h"

#include <cmath>
#include <limits>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"
#include "graph/lower/rules/window.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

// A parameter with the axes of a value: one element, one for each index of an axis, or one for each block along it.
ValueId spread(NodeLowering &node, int input, const Shape &shape, const QuantizationInputs &by) {
    const ValueId id = node.input(input);
    const Shape own = node.shape(id);
    if (node.elements(id) == 1) return node.reshape(id, {});
    const int rank = static_cast<int>(shape.size());
    const std::string what =
        "its parameter of shape " + to_text(own) + " does not fit the value of shape " + to_text(shape);
    if (rank == 0) reject(what);
    const int axis = axis_of(by.axis, rank);
    if (by.block > 0) {
        Shape blocks = shape;
        blocks[axis] = shape[axis] / by.block + (shape[axis] % by.block > 0 ? 1 : 0);
        if (own != blocks) reject(what + " in blocks of " + std::to_string(by.block));
        std::vector<int64_t> indices = index_range(0, shape[axis]);
        for (int64_t &index : indices) index /= by.block;
        return take(node, id, {{axis, std::move(indices)}});
    }
    Shape along(shape.size(), 1);
    along[axis] = shape[axis];
    if (own.size() != 1 || own[0] != shape[axis]) reject(what + " along axis " + std::to_string(axis));
    return node.reshape(id, along);
}

}  // namespace

bool has_zero_point(const NodeLowering &node, int input) {
    if (input < 0 || !node.has_input(input)) return false;
    return !node.is_known_zero(node.input(input));
}

Element type_of_zero_point(const NodeLowering &node, int input) {
    return input >= 0 && node.has_input(input) ? node.type(node.input(input)) : Element::u8;
}

ValueId dequantized(NodeLowering &node, ValueId stored, const QuantizationInputs &by) {
    const Element type = node.type(stored), scale = node.type(node.input(by.scale));
    if (!holds_quanta(type) && type != Element::i32)
        refuse("its input is " + std::string(name(type)) + "; i8, u8, i16, u16 and i32 are dequantized");
    if (!is_float(scale)) reject("its scale is " + std::string(name(scale)));
    const Shape shape = node.shape(stored);
    std::vector<ValueId> inputs{stored, spread(node, by.scale, shape, by)};
    const bool has_point = has_zero_point(node, by.zero_point);
    if (has_point) {
        if (type_of_zero_point(node, by.zero_point) != type) reject("its zero point has another type than its input");
        inputs.push_back(spread(node, by.zero_point, shape, by));
    }
    // Scales of 16 bits are f32 exactly; the result is rounded to their type.
    inputs[1] = node.converted(inputs[1], Element::f32);
    const ZeroPoint zero_point = has_point ? ZeroPoint::operand : ZeroPoint::none;
    const ValueId result = node.add(Elementwise{dequantization(zero_point), shape}, std::move(inputs));
    return node.converted(result, scale);
}

namespace {

ValueId divided_by(NodeLowering &node, ValueId scale, ValueId number, const QuantizationInputs &by, Element to) {
    if (!holds_quanta(to))
        refuse("its result is " + std::string(name(to)) + "; numbers are quantized to i8, u8, i16 and u16");
    const Shape shape = node.shape(number);
    std::vector<ValueId> inputs{node.converted(number, Element::f32), scale};
    const bool has_point = has_zero_point(node, by.zero_point);
    if (has_point) {
        if (type_of_zero_point(node, by.zero_point) != to) reject("its zero point has another type than its result");
        inputs.push_back(spread(node, by.zero_point, shape, by));
    }
    return node.add(Elementwise{quantization(to, has_point ? ZeroPoint::operand : ZeroPoint::none), shape},
                    std::move(inputs));
}

}  // namespace

ValueId quantized(NodeLowering &node, ValueId number, const QuantizationInputs &by, Element to) {
    if (!is_float(node.type(node.input(by.scale))))
        reject("its scale is " + std::string(name(node.type(node.input(by.scale)))));
    check_divisor(node, by.scale);
    return divided_by(node, node.converted(spread(node, by.scale, node.shape(number), by), Element::f32), number, by,
                      to);
}

ValueId quantized_quotient(NodeLowering &node, ValueId quotient, const QuantizationInputs &by, Element to) {
    return divided_by(node, node.constant(Numbers{{Element::f32, {}}, std::vector<double>{1}}), quotient, by, to);
}

void check_divisor(const NodeLowering &node, int input) {
    const auto divides_nothing = [](double x) {
        return !(std::abs(x) >= std::numeric_limits<float>::min()) || !std::isfinite(x);
    };
    if (const auto scale = node.known_element(node.input(input), divides_nothing))
        reject("its scale is " + std::to_string(*scale) +
               ", by which nothing can be divided; calibrate the model again");
}

void check_scale(const NodeLowering &node, int input) {
    const ValueId id = node.input(input);
    if (node.type(id) != Element::f32) refuse("its scales are not f32");
    if (node.known_element(id, [](double x) { return !(x >= 0 && std::isfinite(x)); }) || node.known_scalar(id) == 0)
        reject("a scale of it is not positive");
}

namespace {

void check_quanta(const NodeLowering &node, ValueId id, const char *what) {
    const Element type = node.type(id);
    if (type == Element::i8 || type == Element::u8) return;
    refuse("its " + std::string(what) + " is " + std::string(name(type)) + "; kiln multiplies i8 and u8");
}

// A parameter has one element, or as many.
void check_elements(const NodeLowering &node, ValueId id, const char *what, int64_t count) {
    const int64_t own = node.elements(id);
    if (own == 1 || own == count) return;
    reject("its " + std::string(what) + " has " + std::to_string(own) + " elements; needs 1" +
           (count == 1 ? "" : " or " + std::to_string(count)));
}

// The zero point of numbers that are stored as `stored`, as i32 of one element, or as many.
ValueId zero_point(NodeLowering &node, int input, Element stored, int64_t count) {
    if (!has_zero_point(node, input)) {
        return node.constant(Numbers{{Element::i32, {count}}, std::vector<int64_t>(count, 0)});
    }
    const ValueId id = node.input(input);
    const int64_t own = node.elements(id);
    if (node.type(id) != stored) reject("a zero point of it has another type than its operand");
    check_elements(node, id, "zero point", count);
    return node.elementwise(cast(operand(0), Element::i32), {node.reshape(id, {own})}, {count});
}

ValueId flat(NodeLowering &node, int input, int64_t channels) {
    const int64_t own = node.elements(node.input(input));
    check_elements(node, node.input(input), "scale", channels);
    return node.reshape(node.input(input), own == 1 ? Shape{} : Shape{own});
}

// Scale of each channel, zero point of the result, bounds of its type.
void requantize(NodeLowering &node, const Requantization &by, Convolution *op, std::vector<ValueId> *inputs) {
    const int64_t channels = node.shape((*inputs)[1])[0];
    if (by.bias >= 0 && node.has_input(by.bias)) {
        op->epilogue.push_back({EpilogueStep::Kind::bias});
        inputs->push_back(node.input(by.bias));
    }
    for (const int scale : {by.x_scale, by.w_scale, by.y_scale}) check_scale(node, scale);
    op->epilogue.push_back({EpilogueStep::Kind::requantize_onnx});
    op->result_type = type_of_zero_point(node, by.y_zero_point);
    // A node for each step, so that each is rounded to f32 as the operator is defined: within a node, constants are computed in double.
    const ValueId product =
        node.elementwise(operand(0) * operand(1), {flat(node, by.x_scale, 1), flat(node, by.w_scale, channels)});
    const ValueId scale = node.elementwise(operand(0) / operand(1), {product, flat(node, by.y_scale, 1)}, {channels});
    const QuantumRange range = range_of_quanta(op->result_type);
    const std::vector<int64_t> bounds{static_cast<int64_t>(range.lo), static_cast<int64_t>(range.hi)};
    inputs->insert(inputs->end(), {scale, zero_point(node, by.y_zero_point, op->result_type, 1),
                                   node.constant(Numbers{{Element::i32, {2}}, bounds})});
}

// Numbers less their zero point; one for each row of a left operand, or each column of a right one, fits their last axes.
ValueId offset(NodeLowering &node, ValueId stored, std::optional<ValueId> zero_point, bool is_left) {
    const Element type = node.type(stored);
    const ValueId point = along_operand(
        node, zero_point ? *zero_point : node.constant(Numbers{{type, {}}, std::vector<int64_t>{0}}), is_left);
    if (node.type(point) != type) reject("a zero point of it has another type than its operand");
    if (value_or_refusal(broadcast(node.shape(point), node.shape(stored))) != node.shape(stored))
        reject("a zero point of it does not fit its operand");
    return node.add(Elementwise{without_zero_point(), node.shape(stored)}, {stored, point});
}

std::optional<ValueId> stated_zero_point(const NodeLowering &node, int input) {
    return has_zero_point(node, input) ? std::optional(node.input(input)) : std::nullopt;
}

}  // namespace

ValueId sum_of_quanta(NodeLowering &node, const QuantaInputs &inputs, const std::optional<Requantization> &by) {
    check_quanta(node, inputs.x, "input");
    check_quanta(node, inputs.w, "weights");
    Convolution op = convolution_over(node, inputs.x, inputs.w);
    std::vector<ValueId> operands{inputs.x, inputs.w, zero_point(node, inputs.x_zero_point, node.type(inputs.x), 1)};
    if (has_zero_point(node, inputs.w_zero_point)) {
        op.kernel_zero_point = true;
        operands.push_back(zero_point(node, inputs.w_zero_point, node.type(inputs.w), node.shape(inputs.w)[0]));
    }
    if (by) requantize(node, *by, &op, &operands);
    return node.add(std::move(op), std::move(operands));
}

ValueId product_of_quanta(NodeLowering &node, const QuantaInputs &inputs) {
    check_quanta(node, inputs.x, "left operand");
    check_quanta(node, inputs.w, "right operand");
    const auto x_zero_point =
        inputs.known_x_zero_point ? inputs.known_x_zero_point : stated_zero_point(node, inputs.x_zero_point);
    return matrix_product(node, offset(node, inputs.x, x_zero_point, true),
                          offset(node, inputs.w, stated_zero_point(node, inputs.w_zero_point), false));
}

ValueId along_operand(NodeLowering &node, ValueId parameter, bool is_left) {
    Shape shape = node.shape(parameter);
    if (node.elements(parameter) == 1) shape.clear();
    if (is_left && shape.size() == 1) shape.push_back(1);
    return node.reshape(parameter, shape);
}

}  // namespace kiln::graph
