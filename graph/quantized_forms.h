// The element-wise expressions by which numbers are quantized, each in the one form that rules make and passes look for.
//
// ONNX defines them: a stored number stands for (stored - zero_point) * scale, and a number is stored as
// saturated(round(number / scale) + zero_point), halves to even.
#pragma once

#include <optional>

#include "graph/operator.h"

namespace kiln::graph {

enum class ZeroPoint { none, operand };

// Of x0, stored, and x1, the scale; x2 is the zero point: (f32(x0) - ...) * x1.
Expression dequantization(ZeroPoint zero_point);
// Of x0, a number of f32, and x1, the scale; x2 is the zero point, of the type `to`.
Expression quantization(Element to, ZeroPoint zero_point);
// Of x0, stored, and x1, the zero point: the difference in i32.
Expression without_zero_point();

// Which of them an operator is.
bool is_dequantization(const Elementwise &op);
bool is_quantization(const Elementwise &op);
bool is_without_zero_point(const Elementwise &op);
// Whether its operands, if they are constants, stay so until passes have seen it.
bool is_kept_for_passes(const Operator &op);

// The numbers that a type of quanta holds: i8, u8, i16 or u16.
struct QuantumRange {
    double lo = 0, hi = 0;
};
QuantumRange range_of_quanta(Element type);

}  // namespace kiln::graph
