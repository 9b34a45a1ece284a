// The element-wise expressions by which numbers are quantized, each in the one form that rules make and passes look for.
//
// ONNX defines them: a stored number stands for (stored - zero_point) * scale, and a number is stored as
// saturated(round(number / scale) + zero_point), halves to even.
#pragma once

#include <optional>

#include "graph/operator.h"

namespace kiln::graph {

enum class ZeroPoint { none, operand };

// (f32(x0) - f32(x2)) * x1, where x0 is stored, x1 is the scale and x2 the zero point, if there is one.
Expression dequantization(ZeroPoint zero_point);
// From a number x0 of f32, the scale x1 and the zero point x2 of the type `to`, if there is one.
Expression quantization(Element to, ZeroPoint zero_point);
// i32(x0) - i32(x1), where x0 is stored and x1 is the zero point.
Expression without_zero_point();
// The same in f32, where sums of products are exact.
Expression without_zero_point_in_floats();

// Which of them an operator is.
bool is_dequantization(const Elementwise &op);
bool is_quantization(const Elementwise &op);
bool is_without_zero_point(const Elementwise &op);
bool is_without_zero_point_in_floats(const Elementwise &op);
// Whether its operands, if they are constants, stay so until passes have seen it.
bool is_kept_for_passes(const Operator &op);

// Whether numbers are stored in it as quanta: i8, u8, i16 or u16.
bool holds_quanta(Element type);
// Whether an expression makes quanta, in whatever form.
bool quantizes(const Expression &expression);
// The numbers that a type of quanta holds.
struct QuantumRange {
    double lo = 0, hi = 0;
};
QuantumRange range_of_quanta(Element type);

}  // namespace kiln::graph
