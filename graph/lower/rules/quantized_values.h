// Quantized inputs and results of a node: a stored value, its scale and its zero point; and sums of products of stored numbers
// less their zero points, exact in i32, which ConvInteger, QLinearConv and the products of matrices have in common.
#pragma once

#include <optional>

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// The parameters that a value is quantized with, which stand at inputs of a node. They have one element, one for each element
// of an axis, or one for each block of them.
struct QuantizationInputs {
    int scale = 0, zero_point = -1;  // inputs; one that the node leaves out is none
    int axis = 0;
    int64_t block = 0;  // 0: no blocks
};

// (stored - zero_point) * scale.
ValueId dequantized(NodeLowering &node, ValueId stored, const QuantizationInputs &by);
// saturated(round(number / scale) + zero_point) as elements of `to`.
ValueId quantized(NodeLowering &node, ValueId number, const QuantizationInputs &by, Element to);
// The same of a number that is divided by the scale already, which check_divisor() has seen.
ValueId quantized_quotient(NodeLowering &node, ValueId quotient, const QuantizationInputs &by, Element to);

// Whether the input is there and not known to be 0 everywhere.
bool has_zero_point(const NodeLowering &node, int input);
// The type of the zero point, or u8.
Element type_of_zero_point(const NodeLowering &node, int input);

// What numbers are divided by is a normal number where it is known: kernels take others for 0.
void check_divisor(const NodeLowering &node, int input);

// The scale of a sum of quanta is f32, and one that is known is a positive number. Of several some may be 0: those of channels whose
// weights all are.
void check_scale(const NodeLowering &node, int input);

// Zero points are numbers of inputs, -1 for none.
struct QuantaInputs {
    ValueId x = 0, w = 0;
    int x_zero_point = -1, w_zero_point = -1;
    std::optional<ValueId> known_x_zero_point = {};  // of one element, in place of an input
};

// How sums of a convolution become quanta.
struct Requantization {
    int x_scale, w_scale, y_scale, y_zero_point;  // inputs
    int bias = -1;                                // of i32
};

// The convolution of the node's attributes, in i32, or requantized.
ValueId sum_of_quanta(NodeLowering &node, const QuantaInputs &inputs, const std::optional<Requantization> &by = {});

// The product of matrices, in i32.
ValueId product_of_quanta(NodeLowering &node, const QuantaInputs &inputs);

// A parameter of the product's left operand has a number for each row, or one of the right operand for each column: with the axes of its
// operand.
ValueId along_operand(NodeLowering &node, ValueId parameter, bool is_left);

}  // namespace kiln::graph
