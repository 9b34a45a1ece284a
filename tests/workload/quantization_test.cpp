#include "workload/quantization/quantization.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln {
namespace {

constexpr const char *shape = "conv2d/input:1x8x8x4/kernel:3x3x4x8";

TEST(Quantization, KeysAreCanonical) {
    for (const char *text : {
             "/dtype:i8/epilogue:requantize_litert",
             "/dtype:i8/epilogue:bias,requantize_onnx",
             "/dtype:u8/epilogue:bias,requantize_onnx",
             "/dtype:u8/output_dtype:i8/epilogue:requantize_litert",
             "/dtype:i8/epilogue:bias,requantize_litert,add",
             "/dtype:u8/output_dtype:i8/epilogue:requantize_onnx,add",
             "/dtype:i8/output_dtype:i32",
             "/dtype:u8/output_dtype:i32/epilogue:bias",
             "/dtype:i8/epilogue:requantize_onnx/kernel_zero_point:true",
             "/dtype:u8/epilogue:requantize_onnx/kernel_dtype:u8/kernel_zero_point:true",
             "/lhs_dilation:2x2/dtype:u8/input_layout:NCHW/output_layout:NCHW8c/epilogue:requantize_onnx/"
             "kernel_dtype:u8",
         }) {
        const std::string key_text = std::string(shape) + text;
        const auto w = parse_workload_key(key_text);
        ASSERT_TRUE(w) << w.error().message;
        EXPECT_TRUE(is_quantized(*w)) << key_text;
        EXPECT_EQ(key(*w), key_text);
    }
}

TEST(Quantization, RefusesWhatHasNoMeaning) {
    const struct {
        const char *fields, *message;
    } rows[] = {
        {"/dtype:i8", "epilogue has no requantize_litert or requantize_onnx"},
        {"/dtype:u8/output_dtype:i8/epilogue:bias", "epilogue has no"},
        {"/dtype:i8/output_dtype:i32/epilogue:requantize_litert",
         "`requantize_litert` makes i8 or u8; output_dtype is i32"},
        {"/dtype:i8/output_dtype:f32", "output_dtype is f32; results of a quantized convolution are i8, u8 or i32"},
        {"/dtype:i32", "a convolution has no i32"},
        {"/output_dtype:i8", "output_dtype is i8 and dtype f32"},
        {"/output_dtype:u8", "output_dtype is u8 and dtype f32"},
        {"/epilogue:requantize_onnx", "`requantize_onnx` needs sums of integers; dtype is f32"},
        {"/dtype:i8/epilogue:requantize_onnx,bias",
         "`bias` stands behind `requantize_onnx`, where only `add` may stand"},
        {"/dtype:i8/epilogue:requantize_onnx,requantize_litert", "`requantize_litert` stands behind `requantize_onnx`"},
        {"/dtype:i8/epilogue:requantize_onnx,add,relu", "`relu` stands behind `requantize_onnx`"},
        {"/dtype:i8/epilogue:requantize_onnx,add,add", "`add` more than once"},
        {"/dtype:i8/epilogue:add", "`add` has no meaning for a quantized convolution before its requantization"},
        {"/dtype:i8/output_dtype:i32/epilogue:add", "`add` has no meaning"},
        {"/dtype:i8/epilogue:bias,bias,requantize_onnx", "`bias` more than once"},
        {"/dtype:i8/epilogue:bias,relu,requantize_litert",
         "`relu` has no meaning for a quantized convolution: the operand result_bounds"},
        {"/dtype:i8/epilogue:clamp:0:6,requantize_litert", "`clamp` has no meaning"},
        {"/dtype:i8/epilogue:add,requantize_litert", "`add` has no meaning"},
        {"/dtype:i8/epilogue:prelu,requantize_litert", "`prelu` has no meaning"},
        {"/dtype:i8/epilogue:requantize_litert/special_values:exact", "special_values: integers have none"},
        {"/dtype:i8/epilogue:requantize_litert/kernel_dtype:f32", "kernel_dtype is f32"},
        {"/dtype:i8/epilogue:requantize_litert/kernel_dtype:i8", "not canonical"},
        {"/kernel_dtype:u8", "kernel_dtype has no meaning where dtype is f32"},
        {"/kernel_zero_point:true", "kernel_zero_point has no meaning where dtype is f32"},
        {"/dtype:i8/epilogue:requantize_litert/kernel_zero_point:false", "not canonical"},
    };
    for (const auto &row : rows) {
        const auto w = parse_workload_key(std::string(shape) + row.fields);
        ASSERT_FALSE(w) << row.fields;
        EXPECT_NE(w.error().message.find(row.message), std::string::npos) << w.error().message;
    }
    for (const char *gradient : {"conv2d_backprop_input/input:1x8x8x4/kernel:3x3x4x8/dtype:i8",
                                 "conv2d_backprop_kernel/input:1x8x8x4/kernel:3x3x4x8/dtype:u8/output_dtype:i32"}) {
        const auto w = parse_workload_key(gradient);
        ASSERT_FALSE(w) << gradient;
        EXPECT_NE(w.error().message.find("of a forward convolution"), std::string::npos) << w.error().message;
    }
}

// 2^31 - 1 holds 65793 products of 255 x 128, and 33025 of 255 x 255.
TEST(Quantization, SumsStayInI32) {
    const struct {
        int64_t channels;
        const char *fields;
        bool fits;
    } rows[] = {
        {65793, "", true},
        {65794, "", false},
        {33025, "/kernel_zero_point:true", true},
        {33026, "/kernel_zero_point:true", false},
        {33025, "/kernel_dtype:u8", true},
        {33026, "/kernel_dtype:u8/kernel_zero_point:true", false},
    };
    for (const auto &row : rows) {
        const std::string channels = std::to_string(row.channels);
        const auto w = parse_workload_key("conv2d/input:1x1x1x" + channels + "/kernel:1x1x" + channels +
                                          "x1/dtype:i8/output_dtype:i32" + row.fields);
        EXPECT_EQ(w.ok(), row.fits) << channels << row.fields;
        if (!w) {
            EXPECT_NE(w.error().message.find("leave i32"), std::string::npos) << w.error().message;
        }
    }
}

std::string text_of(const Workload &w) {
    std::string text;
    for (const TensorForm &form : signature(w).operands) {
        text += std::string(form.name) + ":" + std::string(name(form.dtype));
        for (const int64_t extent : form.shape()) text += "," + std::to_string(extent);
        text += " ";
    }
    return text;
}

TEST(Quantization, OperandsFollowFromTheFields) {
    const struct {
        const char *fields, *operands;
    } rows[] = {
        {"/dtype:i8/output_dtype:i32", "input:i8,1,8,8,4 kernel:i8,3,3,4,8 input_zero_point:i32,1 "},
        {"/dtype:u8/epilogue:bias,requantize_litert",
         "input:u8,1,8,8,4 kernel:i8,3,3,4,8 bias:i32,8 input_zero_point:i32,1 multiplier:i32,8 shift:i32,8 "
         "output_zero_point:i32,1 result_bounds:i32,2 "},
        {"/dtype:i8/epilogue:requantize_onnx/kernel_dtype:u8/kernel_zero_point:true",
         "input:i8,1,8,8,4 kernel:u8,3,3,4,8 input_zero_point:i32,1 kernel_zero_point:i32,8 scale:f32,8 "
         "output_zero_point:i32,1 result_bounds:i32,2 "},
        {"/dtype:u8/epilogue:bias,requantize_litert,add",
         "input:u8,1,8,8,4 kernel:i8,3,3,4,8 bias:i32,8 addend:u8,1,6,6,8 input_zero_point:i32,1 multiplier:i32,8 "
         "shift:i32,8 "
         "output_zero_point:i32,1 result_bounds:i32,2 addend_zero_point:i32,1 addition_multiplier:i32,3 "
         "addition_shift:i32,3 "
         "addition_zero_point:i32,1 addition_bounds:i32,2 "},
        {"/dtype:u8/output_dtype:i8/epilogue:requantize_onnx,add",
         "input:u8,1,8,8,4 kernel:i8,3,3,4,8 addend:i8,1,6,6,8 input_zero_point:i32,1 scale:f32,8 "
         "output_zero_point:i32,1 "
         "result_bounds:i32,2 addition_factors:f32,3 addition_zero_point:i32,1 addition_bounds:i32,2 "},
    };
    for (const auto &row : rows) {
        const auto w = parse_workload_key(std::string(shape) + row.fields);
        ASSERT_TRUE(w) << w.error().message;
        EXPECT_EQ(text_of(*w), row.operands);
    }
}

TEST(Quantization, RangesOfValues) {
    const Workload w = *parse_workload_key(
        std::string(shape) + "/dtype:u8/output_dtype:i8/epilogue:bias,requantize_litert,add/kernel_zero_point:true");
    const int64_t bias = 2147483647 - 36 * 255 * 255;
    const struct {
        Role role;
        ValueRange range;
    } rows[] = {
        {Role::bias, {-bias, bias}},
        {Role::input_zero_point, {0, 255}},
        {Role::kernel_zero_point, {-128, 127}},
        {Role::multiplier, {0, 2147483647}},
        {Role::shift, {-31, 30}},
        {Role::output_zero_point, {-128, 127}},
        {Role::result_bounds, {-128, 127}},
        {Role::addend_zero_point, {-128, 127}},
        {Role::addition_multiplier, {0, 2147483647}},
        {Role::addition_shift, {-31, 0}},
        {Role::addition_zero_point, {-128, 127}},
        {Role::addition_bounds, {-128, 127}},
    };
    for (const auto &row : rows) EXPECT_EQ(value_range(w, row.role), row.range) << int(row.role);
    EXPECT_FALSE(value_range(w, Role::input));
    EXPECT_FALSE(value_range(w, Role::scale));
}

}  // namespace
}  // namespace kiln
