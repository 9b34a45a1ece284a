#include "runtime/fallback/quantized_extents.h"

#include "runtime/quantized_values.h"

namespace kiln {
namespace {

bool is_requantization(int32_t step) {
    return step == KILN_EPILOGUE_REQUANTIZE_LITERT || step == KILN_EPILOGUE_REQUANTIZE_ONNX;
}

bool is_integer(int32_t dtype) { return is_quantized_dtype(dtype) || dtype == KILN_I32; }

const char *check_quantized_steps(const kiln_descriptor &d) {
    bool requantizes = false;
    for (int i = 0; i < d.epilogue_count; i++) {
        const int32_t step = d.epilogue[i].kind;
        if (requantizes && step != KILN_EPILOGUE_ADD) return "epilogue: only an addition follows a requantization";
        const bool is_one = is_requantization(step);
        if (!requantizes && step != KILN_EPILOGUE_BIAS && !is_one) {
            return "epilogue: a quantized convolution has a bias, then a requantization; result_bounds clamps";
        }
        requantizes = requantizes || is_one;
    }
    if (requantizes == (d.output_dtype != KILN_I32)) return nullptr;
    return requantizes ? "epilogue: a requantization makes i8 or u8, but output_dtype is i32"
                       : "epilogue: a result of i8 or u8 needs a requantization";
}

}  // namespace

int32_t requantization_of(const kiln_descriptor &d) {
    for (int i = 0; i < d.epilogue_count; i++) {
        if (is_requantization(d.epilogue[i].kind)) return d.epilogue[i].kind;
    }
    return 0;
}

const char *check_quantization(const kiln_descriptor &d) {
    if (!is_quantized(d)) {
        if (is_integer(d.dtype) || is_integer(d.output_dtype)) {
            return "dtype and output_dtype: integers need a forward convolution of i8 or u8";
        }
        return requantization_of(d) != 0 ? "epilogue: a requantization needs sums of integers" : nullptr;
    }
    if (!is_quantized_dtype(d.kernel_dtype)) return "kernel_dtype is not i8 or u8";
    if (!is_integer(d.output_dtype)) return "output_dtype of a quantized convolution is not i8, u8 or i32";
    if (d.special_values != KILN_FINITE) return "special_values: integers have none";
    return check_quantized_steps(d);
}

bool sums_fit(const kiln_descriptor &d) {
    int64_t terms = d.channels / d.feature_group_count;
    for (int i = 0; i < d.spatial_rank; i++) {
        terms = d.kernel[i] <= INT32_MAX / terms ? terms * d.kernel[i] : INT32_MAX;
    }
    return terms < INT32_MAX && largest_product_sum(d) <= INT32_MAX;
}

void quantization_operands(const kiln_descriptor &d, OperandShape (&operands)[tensor_operands]) {
    const OperandShape one = {KILN_I32, 1, {1}}, channels = {KILN_I32, 1, {d.output_channels}};
    const int32_t how = requantization_of(d);
    operands[KILN_INPUT_ZERO_POINT] = one;
    if (d.kernel_zero_point) operands[KILN_KERNEL_ZERO_POINT] = channels;
    if (how == KILN_EPILOGUE_REQUANTIZE_LITERT) operands[KILN_MULTIPLIER] = operands[KILN_SHIFT] = channels;
    if (how == KILN_EPILOGUE_REQUANTIZE_ONNX) operands[KILN_SCALE] = {KILN_F32, 1, {d.output_channels}};
    if (how == 0) return;
    operands[KILN_OUTPUT_ZERO_POINT] = one;
    operands[KILN_RESULT_BOUNDS] = {KILN_I32, 1, {2}};
    if (d.epilogue[d.epilogue_count - 1].kind != KILN_EPILOGUE_ADD) return;
    if (how == KILN_EPILOGUE_REQUANTIZE_LITERT) {
        operands[KILN_ADDEND_ZERO_POINT] = one;
        operands[KILN_ADDITION_MULTIPLIER] = operands[KILN_ADDITION_SHIFT] = {KILN_I32, 1, {3}};
    } else {
        operands[KILN_ADDITION_FACTORS] = {KILN_F32, 1, {3}};
    }
    operands[KILN_ADDITION_ZERO_POINT] = one;
    operands[KILN_ADDITION_BOUNDS] = {KILN_I32, 1, {2}};
}

}  // namespace kiln
