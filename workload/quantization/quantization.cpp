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
int64_t largest_weight(bool are_wide) { return are_wide ? 255 : 128; }

// Products of one sum. Precondition: the kernel's extents are below 2^31, and no product of them passes 2^62.
int64_t terms(const Workload &w) { return elements(w.kernel) / w.kernel.back(); }

std::string quoted(Kind kind) { return "`" + std::string(epilogue_form(kind).name) + "`"; }

// `before`: the requantization before it, or null.
Status check_step(const Workload &w, const EpilogueStep &step, const EpilogueStep *before) {
    if (before && step.kind == Kind::add) return {};
    if (before) {
        return bad_input("epilogue: " + quoted(step.kind) + " stands behind " + quoted(before->kind) +
                         ", where only `add` may stand");
    }
    if (step.kind == Kind::bias) return {};
    if (is_requantization(step.kind)) {
        if (w.output_dtype == DType::i32)
            return bad_input("epilogue: " + quoted(step.kind) + " makes i8 or u8; output_dtype is i32");
        return {};
    }
    if (step.kind == Kind::relu || step.kind == Kind::clamp) {
        return bad_input("epilogue: " + quoted(step.kind) +
                         " has no meaning for a quantized convolution: the operand result_bounds clamps its results");
    }
    return bad_input(
        "epilogue: " + quoted(step.kind) +
        " has no meaning for a quantized convolution before its requantization; needs bias, then requantize_litert or "
        "requantize_onnx, then add");
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
    const EpilogueStep *requantization = nullptr;
    for (const EpilogueStep &step : w.epilogue) {
        if (Status s = check_step(w, step, requantization); !s) return s;
        if (is_requantization(step.kind)) requantization = &step;
    }
    if (!requantization && w.output_dtype != DType::i32) {
        return bad_input("epilogue has no requantize_litert or requantize_onnx, which results of " +
                         std::string(name(w.output_dtype)) + " need; else output_dtype is i32");
    }
    const int64_t most = most_products(has_wide_weights(w));
    if (terms(w) <= most) return {};
    return bad_input("kernel: sums of " + std::to_string(terms(w)) + " products of up to 255 x " +
                     std::to_string(largest_weight(has_wide_weights(w))) + " leave i32; needs at most " +
                     std::to_string(most));
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
    if (const EpilogueStep *step = requantization_of(w)) {
        return bad_input("epilogue: " + quoted(step->kind) + " needs sums of integers; dtype is " +
                         std::string(name(w.dtype)));
    }
    return {};
}

}  // namespace

const EpilogueStep *requantization_of(const Workload &w) {
    const auto step = std::ranges::find_if(w.epilogue, is_requantization, &EpilogueStep::kind);
    return step == w.epilogue.end() ? nullptr : &*step;
}

bool adds_quantized(const Workload &w) { return requantization_of(w) && has_step(w.epilogue, Kind::add); }

bool has_wide_weights(const Workload &w) { return w.kernel_dtype != DType::i8 || w.kernel_zero_point; }

int64_t most_products(bool are_wide) { return largest_sum / (largest_input * largest_weight(are_wide)); }

int64_t largest_bias(int64_t products, bool are_wide) {
    return largest_sum - products * largest_input * largest_weight(are_wide);
}

ValueRange range_of(DType dtype) { return dtype == DType::u8 ? ValueRange{0, 255} : ValueRange{-128, 127}; }

std::vector<QuantizationOperand> quantization_operands(const Workload &w) {
    if (!is_quantized(w)) return {};
    const int64_t channels = w.kernel.back();
    const bool litert = has_step(w.epilogue, Kind::requantize_litert),
               onnx = has_step(w.epilogue, Kind::requantize_onnx);
    std::vector<QuantizationOperand> operands{{Role::input_zero_point, "input_zero_point", DType::i32, 1}};
    if (w.kernel_zero_point) operands.push_back({Role::kernel_zero_point, "kernel_zero_point", DType::i32, channels});
    if (litert) operands.push_back({Role::multiplier, "multiplier", DType::i32, channels});
    if (litert) operands.push_back({Role::shift, "shift", DType::i32, channels});
    if (onnx) operands.push_back({Role::scale, "scale", DType::f32, channels});
    if (litert || onnx) {
        operands.push_back({Role::output_zero_point, "output_zero_point", DType::i32, 1});
        operands.push_back({Role::result_bounds, "result_bounds", DType::i32, 2});
    }
    if (!has_step(w.epilogue, Kind::add)) return operands;
    if (litert) {
        operands.push_back({Role::addend_zero_point, "addend_zero_point", DType::i32, 1});
        operands.push_back({Role::addition_multiplier, "addition_multiplier", DType::i32, 3});
        operands.push_back({Role::addition_shift, "addition_shift", DType::i32, 3});
    } else {
        operands.push_back({Role::addition_factors, "addition_factors", DType::f32, 3});
    }
    operands.push_back({Role::addition_zero_point, "addition_zero_point", DType::i32, 1});
    operands.push_back({Role::addition_bounds, "addition_bounds", DType::i32, 2});
    return operands;
}

std::optional<ValueRange> value_range(const Workload &w, Role role) {
    switch (role) {
        case Role::bias: {
            const int64_t most = largest_bias(terms(w), has_wide_weights(w));
            return ValueRange{-most, most};
        }
        case Role::input_zero_point:
            return range_of(w.dtype);
        case Role::kernel_zero_point:
            return range_of(w.kernel_dtype);
        case Role::multiplier:
        case Role::addition_multiplier:
            return ValueRange{0, std::numeric_limits<int32_t>::max()};
        case Role::shift:
            return ValueRange{-31, 30};
        case Role::addition_shift:
            return ValueRange{-31, 0};
        case Role::output_zero_point:
        case Role::result_bounds:
        case Role::addend_zero_point:
        case Role::addition_zero_point:
        case Role::addition_bounds:
            return range_of(w.output_dtype);
        default:
            return std::nullopt;
    }
}

Status check_quantization(const Workload &w) { return is_quantized(w) ? check_quantized(w) : check_not_quantized(w); }

}  // namespace kiln
