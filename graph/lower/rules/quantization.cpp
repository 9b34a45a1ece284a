// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, ConvInteger and MatMulInteger.
#include "graph/lower/node/dynamic_quanta.h"
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

void dynamic_quantize_linear(NodeLowering &node) {
    const DynamicQuanta quanta = quantized_dynamically(node, node.input(0));
    node.result(quanta.numbers, 0);
    node.result(quanta.scale, 1);
    node.result(quanta.zero_point, 2);
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
