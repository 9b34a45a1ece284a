// Quantized convolutions: activations of i8 or u8, weights of i8 or u8, sums in i32. A stored number stands for
// (stored - zero point) * scale, and the sum of an output is
//   bias + sum of (input - input_zero_point) * (kernel - kernel_zero_point)
// with one kernel_zero_point for each output channel, or none. The result is that sum, in i32, or what a step of the epilogue makes
// of it, in i8 or u8:
//   requantize_litert   multiplier and shift of the channel, with two roundings, as LiteRT's reference kernels do it
//   requantize_onnx     scale of the channel in f32, rounded to the nearest even, as ONNX's QLinearConv does it
// Either adds output_zero_point and saturates to result_bounds, which are the ends of the dtype or a ReLU, ReLU6 or clamp.
//
// `add` behind it adds another quantized tensor of the result's form, `addend`, to this number x, by the rule of the same library:
//   litert   scaled(scaled((x - output_zero_point) * 2^20, 0) + scaled((addend - addend_zero_point) * 2^20, 1), 2), where scaled(n, i)
//            requantizes by addition_multiplier[i] and addition_shift[i], as LiteRT's reference kernel of ADD does it
//   onnx     x * addition_factors[0] + addend * addition_factors[1] + addition_factors[2], each step rounded to f32, the result to the
//            nearest even: factors are quotients of scales, and the last one holds the zero points
// Then addition_zero_point is added, and addition_bounds saturate.
//
// All of these are operands of a call and none is part of the key. Their ranges, and the largest number of terms of a sum, are
// such that no sum leaves i32.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/signature.h"
#include "workload/workload.h"

namespace kiln {

// An operand that says how numbers are quantized: `count` numbers.
struct QuantizationOperand {
    Role role;
    std::string_view name;
    DType dtype;
    int64_t count;
};

// Those that the workload has, ascending by role: none of another than a quantized convolution.
std::vector<QuantizationOperand> quantization_operands(const Workload &w);

// How many products a sum in i32 may have, and the largest size of a bias beside so many. Weights are wide where they are u8 or have
// zero points: then they differ from these by up to 255, else by up to 128.
bool has_wide_weights(const Workload &w);
int64_t most_products(bool are_wide);
int64_t largest_bias(int64_t products, bool are_wide);

// The values that an operand of a quantized convolution may have, both counted; nothing where it may have any, or is no
// integer. result_bounds and addition_bounds also ascend.
struct ValueRange {
    int64_t lo = 0, hi = 0;
    bool operator==(const ValueRange &) const = default;
};
std::optional<ValueRange> value_range(const Workload &w, Role role);
ValueRange range_of(DType dtype);  // i8 or u8

// The largest size of addition_factors: what is computed of them stays finite.
inline constexpr float largest_addition_factor = 0x1p64F;

// The step that makes i8 or u8 of a sum; null where there is none.
const EpilogueStep *requantization_of(const Workload &w);
bool adds_quantized(const Workload &w);  // whether `add` follows it

// Whether dtypes and epilogue go together, quantized or not, and sums stay in i32.
Status check_quantization(const Workload &w);

}  // namespace kiln
