// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, ConvInteger and MatMulInteger.
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/quantized_values.h"
#include "graph/lower/rules/rule.h"
#include "graph/lower/rules/window.h"
#include "graph/onnx/data_type.h"

namespace kiln::graph {
namespace {

QuantizationInputs inputs_of(const NodeLowering &node) {
    const int64_t block = node.attributes.integer("block_size", 0);
    if (block < 0) reject("its attribute 'block_size' is " + std::to_string(block));
    const ValueId x = node.input(0);
    // The axis matters where parameters are more than one element.
    const bool has_axis = node.elements(node.input(1)) != 1;
    return {.scale = 1,
            .zero_point = 2,
            .axis = has_axis ? axis_of(node.attributes.integer("axis", 1), node.rank(x)) : 0,
            .block = block};
}

// An attribute that names a type; 0 names none.
std::optional<Element> type_attribute(const NodeLowering &node, std::string_view name) {
    const int64_t number = node.attributes.integer(name, 0);
    if (number == 0) return {};
    const auto type = onnx::element_of(number);
    if (!type)
        refuse("its attribute '" + std::string(name) + "' is the type " + std::to_string(number) +
               ", which kiln does not compute");
    return type;
}

void quantize_linear(NodeLowering &node) {
    const auto precision = type_attribute(node, "precision");
    if (precision && *precision != Element::f32)
        refuse("its attribute 'precision' is " + std::string(name(*precision)) + "; kiln divides in f32");
    const auto stated = type_attribute(node, "output_dtype");
    const Element to = node.has_input(2) ? type_of_zero_point(node, 2) : stated.value_or(Element::u8);
    if (stated && *stated != to) reject("its attribute 'output_dtype' is not the type of its zero point");
    node.result(quantized(node, node.input(0), inputs_of(node), to));
}

void dequantize_linear(NodeLowering &node) {
    const ValueId result = dequantized(node, node.input(0), inputs_of(node));
    const auto stated = type_attribute(node, "output_dtype");
    if (stated && *stated != node.type(result)) {
        if (!is_float(*stated)) reject("its attribute 'output_dtype' is " + std::string(name(*stated)));
        return node.result(node.converted(result, *stated));
    }
    node.result(result);
}

// All elements of x together, with 0 among them.
ValueId bound_of_all(NodeLowering &node, Reduce::Kind kind) {
    const ValueId x = node.input(0);
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

// u8 whose range is that of x and 0; where all of x is 0, the scale is 1.
void dynamic_quantize_linear(NodeLowering &node) {
    const ValueId x = node.input(0);
    if (node.type(x) != Element::f32) reject("its input is " + std::string(name(node.type(x))) + "; needs f32");
    const ValueId most = bound_of_all(node, Reduce::Kind::maximum),
                  least_of_all = bound_of_all(node, Reduce::Kind::minimum);
    const ValueId scale =
        node.elementwise(select(equal(operand(0), operand(1)), constant(1), dynamic_scale(operand(0), operand(1))),
                         {most, least_of_all});
    const auto stored = [](const Expression &number) {
        return cast(least(greatest(number, constant(0)), constant(255)), Element::u8);
    };
    const auto rounded = [](Expression number) { return apply(Function::round, std::move(number)); };
    const ValueId zero_point = node.elementwise(stored(rounded(-(operand(0) / operand(1)))), {least_of_all, scale});
    const Expression number = rounded(operand(0) / operand(1)) + cast(operand(2), Element::f32);
    node.result(node.elementwise(stored(number), {x, scale, zero_point}), 0);
    node.result(scale, 1);
    node.result(zero_point, 2);
}

void conv_integer(NodeLowering &node) {
    node.result(sum_of_quanta(node, {.x = node.input(0), .w = node.input(1), .x_zero_point = 2, .w_zero_point = 3}));
}

void mat_mul_integer(NodeLowering &node) {
    node.result(
        product_of_quanta(node, {.x = node.input(0), .w = node.input(1), .x_zero_point = 2, .w_zero_point = 3}));
}

constexpr Rule rows_of_quantization[] = {
    {"QuantizeLinear", 10, {2, 3}, 1, "", quantize_linear},
    {"QuantizeLinear", 13, {2, 3}, 1, "axis", quantize_linear},
    {"QuantizeLinear", 19, {2, 3}, 1, "axis saturate", quantize_linear},
    {"QuantizeLinear", 21, {2, 3}, 1, "axis block_size output_dtype saturate", quantize_linear},
    {"QuantizeLinear", 23, {2, 3}, 1, "axis block_size output_dtype precision saturate", quantize_linear},
    {"QuantizeLinear", 1, {2, 3}, 1, "axis block_size", quantize_linear, "com.microsoft"},
    {"DequantizeLinear", 10, {2, 3}, 1, "", dequantize_linear},
    {"DequantizeLinear", 13, {2, 3}, 1, "axis", dequantize_linear},
    {"DequantizeLinear", 21, {2, 3}, 1, "axis block_size", dequantize_linear},
    {"DequantizeLinear", 23, {2, 3}, 1, "axis block_size output_dtype", dequantize_linear},
    {"DequantizeLinear", 1, {2, 3}, 1, "axis block_size", dequantize_linear, "com.microsoft"},
    {"DynamicQuantizeLinear", 11, {1, 1}, 3, "", dynamic_quantize_linear},
    {"ConvInteger", 10, {2, 4}, 1, window_attributes, conv_integer},
    {"MatMulInteger", 10, {2, 4}, 1, "", mat_mul_integer},
};

}  // namespace

std::span<const Rule> quantization_rules() { return rows_of_quantization; }

}  // namespace kiln::graph
