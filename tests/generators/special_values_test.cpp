// NaN, Inf and the conversions to and from 16 bits, in kernels of the real generator: every algorithm that says it
// keeps to the definition, on this machine and on a target without conversions in hardware.
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/generators/built_kernels.h"
#include "tests/generators/tensor_elements.h"
#include "tuner/reference/half.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"

namespace kiln {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

class SpecialValuesInKernels : public BuiltKernels {
protected:
    std::vector<Target> targets() const {
        return {*parse_target("host", 1, machine_.halide_target), *parse_target("baseline", 1, machine_.halide_target)};
    }

    void expect_as_the_reference(const Workload &w, const Operands &operands) {
        const auto expected = reference(w, operands);
        ASSERT_TRUE(expected) << expected.error().message;
        for (const Target &target : targets()) {
            for (const Algorithm &algorithm : catalog()) {
                if (!algorithm.applies(w, target)) continue;
                const std::string what = key(w) + " " + to_text(target) + " " + std::string(algorithm.name);
                const auto got = result_of(
                    w, target, algorithm.space(w, target, core_of(machine_, target)).default_candidate(), operands);
                ASSERT_TRUE(got) << what << ": " << got.error().message;
                for (int64_t i = 0; i < got->elements(); i++) {
                    const double right = expected->expected[i], value = get<float>(*got, i);
                    const bool same = std::isnan(right)   ? std::isnan(value)
                                      : std::isinf(right) ? right == value
                                                          : std::fabs(right - value) < 1e-4;
                    ASSERT_TRUE(same) << what << ": " << result_position(w, i) << " is " << value << ", expected "
                                      << right;
                }
            }
        }
    }
};

TEST_F(SpecialValuesInKernels, PropagateFromTheFirstOperand) {
    for (const char *text : {
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:bias,relu/special_values:exact",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:clamp:-1:1/special_values:exact",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/"
             "epilogue:sigmoid,bias,leaky_relu:0.5,tanh,clamp:-inf:0.5/"
             "special_values:exact",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:silu,hard_sigmoid:0.5:0.5/"
             "special_values:exact",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:gelu_tanh/special_values:exact",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:bias,gelu/special_values:exact",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:hard_swish/special_values:exact",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:bias,prelu/special_values:exact",
             "conv2d/input:1x8x9x12/kernel:3x3x3x8/padding:1,1x1,1/feature_group_count:4/special_values:exact",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/special_values:exact/prologue:scale,bias,relu",
             "conv2d/input:1x8x9x16/kernel:3x3x1x16/padding:1,1x1,1/feature_group_count:16/special_values:exact",
             "conv2d/input:4x5x6x3/kernel:3x2x3x6/padding:1,1x1,1/lhs_dilation:2x3/batch_group_count:2/"
             "input_layout:NCHW/output_layout:NCHW8c/special_values:exact",
             "conv2d_backprop_input/input:1x9x8x5/kernel:3x3x5x7/strides:2x2/padding:1,1x1,1/special_values:exact",
             "conv2d_backprop_kernel/input:1x9x8x5/kernel:3x3x5x7/strides:2x1/padding:1,1x1,1/special_values:exact",
             "conv2d_backprop_kernel/input:1x9x8x33/kernel:3x3x33x3/padding:1,1x1,1/special_values:exact",
         }) {
        const auto parsed = parse_workload_key(text);
        ASSERT_TRUE(parsed) << parsed.error().message;
        const Workload &w = *parsed;
        Operands operands = make_operands(w, Data::ordinary, 1);
        const int64_t count = operands.first.elements();
        set(operands.first, 5, nan), set(operands.first, count / 2, inf), set(operands.first, count - 2, -inf);
        expect_as_the_reference(w, operands);
    }
}

// Without padding and holes there is no zero that a tap could meet or not.
TEST_F(SpecialValuesInKernels, PropagateFromTheKernel) {
    for (const char *text : {"conv2d/input:1x8x9x4/kernel:3x3x4x17/special_values:exact",
                             "conv2d/input:1x8x9x12/kernel:3x3x3x8/feature_group_count:4/special_values:exact"}) {
        const Workload w = *parse_workload_key(text);
        Operands operands = make_operands(w, Data::ordinary, 1);
        set(operands.second, 3, nan), set(operands.second, 40, inf), set(operands.second, 41, -inf);
        expect_as_the_reference(w, operands);
    }
}

// One channel, a kernel of 1: the result is the input, converted.
Operands copying(const Workload &w) {
    Operands operands = make_operands(w, Data::ordinary, 1);
    if (w.dtype == DType::f32) set(operands.second, 0, 1.0f);
    if (w.dtype == DType::f16) set(operands.second, 0, float_to_f16(1));
    if (w.dtype == DType::bf16) set(operands.second, 0, float_to_bf16(1));
    return operands;
}

TEST_F(SpecialValuesInKernels, EverySixteenBitNumberIsReadAsWhatItIs) {
    struct Row {
        const char *text;
        float (*to_float)(uint16_t);
    };
    for (const auto &[text, to_float] :
         {Row{"conv2d/input:1x256x256x1/kernel:1x1x1x1/dtype:f16/output_dtype:f32", f16_to_float},
          {"conv2d/input:1x256x256x1/kernel:1x1x1x1/dtype:bf16/output_dtype:f32", bf16_to_float}}) {
        const Workload w = *parse_workload_key(text);
        Operands operands = copying(w);
        for (int i = 0; i < 65536; i++) set(operands.first, i, static_cast<uint16_t>(i));
        for (const Target &target : targets()) {
            const auto got = result_of(
                w, target, *default_candidate(w, target, core_of(machine_, target), default_error_budget), operands);
            ASSERT_TRUE(got) << got.error().message;
            for (int i = 0; i < 65536; i++) {
                const float right = as_kernels_read(to_float(static_cast<uint16_t>(i))), value = get<float>(*got, i);
                ASSERT_TRUE(right == value || (std::isnan(right) && std::isnan(value)))
                    << text << " " << to_text(target) << ": " << i << " is read as " << value << ", not " << right;
            }
        }
    }
}

TEST_F(SpecialValuesInKernels, ResultsAreRoundedToNearestEven) {
    std::vector<float> values{nan,   -nan,    inf,   -inf,  0.0f,     65519,      65520,       65504,       1e9f,
                              3e38f, 3.4e38f, 6e-8f, 3e-8f, 0x1p-25f, 0x1.8p-24f, -0x1.8p-24f, 0x1.ffep-15f};
    for (int i = 0; i < 4096; i++) {  // halfway between neighbours of f16 and of bf16, and just beside
        values.push_back((1 + i * 0x1p-11f) * 0x1p3f);
        values.push_back(std::nextafter(values.back(), inf));
        values.push_back(-(1 + i % 256 * 0x1p-8f) * 0x1p-10f);
        values.push_back(std::nextafter(values.back(), inf));
    }
    const std::string shape = "conv2d/input:1x1x" + std::to_string(values.size()) + "x1/kernel:1x1x1x1/output_dtype:";
    struct Row {
        const char *dtype;
        uint16_t (*rounded)(float);
        float (*to_float)(uint16_t);
    };
    for (const auto &[dtype, rounded, to_float] :
         {Row{"f16", float_to_f16, f16_to_float}, {"bf16", float_to_bf16, bf16_to_float}}) {
        const Workload w = *parse_workload_key(shape + dtype + "/special_values:exact");
        Operands operands = copying(w);
        for (size_t i = 0; i < values.size(); i++) set(operands.first, int64_t(i), values[i]);
        for (const Target &target : targets()) {
            const auto got = result_of(
                w, target, *default_candidate(w, target, core_of(machine_, target), default_error_budget), operands);
            ASSERT_TRUE(got) << got.error().message;
            for (size_t i = 0; i < values.size(); i++) {
                const uint16_t right = rounded(values[i]), bits = get<uint16_t>(*got, int64_t(i));
                EXPECT_TRUE(right == bits || (std::isnan(values[i]) && std::isnan(to_float(bits))))
                    << dtype << " " << to_text(target) << ": " << values[i] << " is stored as " << to_float(bits)
                    << ", not " << to_float(right);
            }
        }
    }
}

}  // namespace
}  // namespace kiln
