#include "workload/quantization/quantization.h"

#include <algorithm>
#include <limits>
#include <string>

namespace kiln {
namespace {

using Kind = EpilogueStep::Kind;

constexpr int64_t largest_sum = std::numeric_limits<int32_t>::max();

// The largest |input - zero point| and |kernel - zero point|.
constexpr int64_t largest_input = 255;
int64_t largest_weight(const Workload &w) { return w.kernel_dtype == DType::i8 && !w.kernel_zero_point ? 128 : 255; }

// Products of one sum. Precondition: the kernel's extents are below 2^31, and no product of them passes 2^62.
int64_t terms(const Workload &w) { return elements(w.kernel) / w.kernel.back(); }

// The largest sum of products, which biases leave room for.
int64_t largest_product_sum(const Workload &w) { return terms(w) * largest_input * largest_weight(w); }

std::string quoted(Kind kind) { return "`" + std::string(epilogue_form(kind).name) + "`"; }

Status check_step(const Workload &w, const EpilogueStep &step) {
    if (step.kind == Kind::bias) return {};
    if (is_requantization(step.kind)) {
        if (w.output_dtype == DType::i32)
            return bad_input("epilogue: " + quoted(step.kind) + " makes i8 or u8; output_dtype is i32");
        if (&step == &w.epilogue.back()) return {};
        return bad_input("epilogue: " + quoted(step.kind) + " is not the last step; nothing follows it");
    }
    if (step.kind == Kind::relu || step.kind == Kind::clamp) {
        return bad_input("epilogue: " + quoted(step.kind) +
                         " has no meaning for a quantized convolution: the operand result_bounds clamps its results");
    }
    return bad_input(
        "epilogue: " + quoted(step.kind) +
        " has no meaning for a quantized convolution; needs bias, then requantize_litert or requantize_onnx");
}

Status check_quantized(const Workload &w) {
    if (w.dtype == DType::i32) return bad_input("dtype: a convolution has no i32; needs f32, f16, bf16, i8 or u8");
    if (w.kernel_dtype != DType::i8 && w.kernel_dtype != DType::u8) {
        return bad_input("kernel_dtype is " + std::string(name(w.kernel_dtype)) +
                         "; weights of a quantized convolution are i8 or u8");
    }
    if (!is_integer(w.output_dtype)) {
        return bad_input("output_dtype is " + std::string(name(w.output_dtype)) +
                         "; results of a quantized convolution are i8, u8 or i32");
    }
    if (w.special_values != SpecialValues::finite) return bad_input("special_values: integers have none; leave it out");
    for (const EpilogueStep &step : w.epilogue) {
        if (Status s = check_step(w, step); !s) return s;
    }
    const bool requantizes = !w.epilogue.empty() && is_requantization(w.epilogue.back().kind);
    if (!requantizes && w.output_dtype != DType::i32) {
        return bad_input("epilogue does not end with requantize_litert or requantize_onnx, which results of " +
                         std::string(name(w.output_dtype)) + " need; else output_dtype is i32");
    }
    const int64_t most = largest_sum / (largest_input * largest_weight(w));
    if (terms(w) <= most) return {};
    return bad_input("kernel: sums of " + std::to_string(terms(w)) + " products of up to 255 x " +
                     std::to_string(largest_weight(w)) + " leave i32; needs at most " + std::to_string(most));
}

Status check_not_quantized(const Workload &w) {
    if (is_integer(w.output_dtype) || is_integer(w.dtype)) {
        return bad_input("output_dtype is " + std::string(name(w.output_dtype)) + " and dtype " +
                         std::string(name(w.dtype)) +
                         "; integers need dtype i8 or u8 of a forward convolution, others f32, f16 or bf16");
    }
    if (w.kernel_dtype != Workload{}.kernel_dtype)
        return bad_input("kernel_dtype has no meaning where dtype is " + std::string(name(w.dtype)) + "; leave it out");
    if (w.kernel_zero_point) {
        return bad_input("kernel_zero_point has no meaning where dtype is " + std::string(name(w.dtype)) +
                         "; leave it out");
    }
    for (const EpilogueStep &step : w.epilogue) {
        if (!is_requantization(step.kind)) continue;
        return bad_input("epilogue: " + quoted(step.kind) + " needs sums of integers; dtype is " +
                         std::string(name(w.dtype)));
    }
    return {};
}

}  // namespace

ValueRange range_of(DType dtype) { return dtype == DType::u8 ? ValueRange{0, 255} : ValueRange{-128, 127}; }

std::vector<QuantizationOperand> quantization_operands(const Workload &w) {
    if (!is_quantized(w)) return {};
    const int64_t channels = w.kernel.back();
    const bool litert = has_epilogue(w, Kind::requantize_litert), onnx = has_epilogue(w, Kind::requantize_onnx);
    std::vector<QuantizationOperand> operands{{Role::input_zero_point, "input_zero_point", DType::i32, 1}};
    if (w.kernel_zero_point) operands.push_back({Role::kernel_zero_point, "kernel_zero_point", DType::i32, channels});
    if (litert) operands.push_back({Role::multiplier, "multiplier", DType::i32, channels});
    if (litert) operands.push_back({Role::shift, "shift", DType::i32, channels});
    if (onnx) operands.push_back({Role::scale, "scale", DType::f32, channels});
    if (litert || onnx) {
        operands.push_back({Role::output_zero_point, "output_zero_point", DType::i32, 1});
        operands.push_back({Role::result_bounds, "result_bounds", DType::i32, 2});
    }
    return operands;
}

std::optional<ValueRange> value_range(const Workload &w, Role role) {
    switch (role) {
        case Role::bias: {
            const int64_t most = largest_sum - largest_product_sum(w);
            return ValueRange{-most, most};
        }
        case Role::input_zero_point:
            return range_of(w.dtype);
        case Role::kernel_zero_point:
            return range_of(w.kernel_dtype);
        case Role::multiplier:
            return ValueRange{0, std::numeric_limits<int32_t>::max()};
        case Role::shift:
            return ValueRange{-31, 30};
        case Role::output_zero_point:
        case Role::result_bounds:
            return range_of(w.output_dtype);
        default:
            return std::nullopt;
    }
}

Status check_quantization(const Workload &w) { return is_quantized(w) ? check_quantized(w) : check_not_quantized(w); }

}  // namespace kiln
