// The requantization of ONNX's QLinearConv and QLinearMatMul: the sum times x_scale * w_scale / y_scale in f32, rounded to
// the nearest, halves to even, plus the zero point, with saturation (https://onnx.ai/onnx/operators/onnx__QLinearConv.html).
#pragma once

#include <cstdint>

namespace kiln {

// The rounded product as a number, which may be beyond i32. Precondition: the scale is finite.
double requantize_onnx(int32_t sum, float scale);

}  // namespace kiln
