// The kernel for any sizes against the reference loops: attributes, layouts, dtypes, epilogues, special values,
// threads.
//
// Draw number i of seed s is drawn from s + i alone, so a failing one is repeated by its own seed; the message says
// how. KILN_TEST_DRAWS draws are made, one in four with a pool of threads, with KILN_TEST_POOL=1 all.
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>

#include "tests/build_paths.h"
#include "tests/drawn_workloads.h"
#include "tests/generators/tensor_elements.h"
#include "tests/runtime/fallback_call.h"
#include "tests/test_seed.h"
#include "tuner/reference/half.h"

namespace kiln {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

Workload workload(const std::string &text) {
    const auto parsed = parse_workload_key(text);
    EXPECT_TRUE(parsed) << text << ": " << parsed.error().message;
    return *parsed;
}

const char *const convolutions[] = {
    // sizes around those of blocks and tiles, in each direction
    "conv2d/input:1x1x1x1/kernel:1x1x1x1",
    "conv2d/input:1x56x56x8/kernel:3x3x8x65/padding:1,1x1,1",
    "conv2d/input:2x11x12x64/kernel:3x3x64x64/padding:1,1x1,1",
    "conv2d/input:3x7x5x257/kernel:1x1x257x129",
    "conv2d/input:1x30x31x3/kernel:7x7x3x24/strides:2x2/padding:3,3x3,3",
    "conv1d/input:2x300x5/kernel:9x5x7/strides:3/padding:4,0",
    "conv3d/input:1x5x6x7x3/kernel:3x2x3x3x5/strides:1x2x1/padding:1,1x0,1x2,0",
    // every attribute
    "conv2d/input:2x9x9x6/kernel:3x4x3x10/strides:2x1/padding:-1,2x3,-2/lhs_dilation:2x3/rhs_dilation:2x1/"
    "feature_group_count:2",
    "conv2d/input:6x7x9x5/kernel:2x3x5x9/padding:1,1x1,1/lhs_dilation:3x2/batch_group_count:3",
    "conv2d/input:1x20x20x32/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:32",
    "conv2d/input:1x4x4x8/kernel:3x3x8x4/padding:20,20x-4,9",
    "conv2d/input:1x9x9x4/kernel:9x9x4x3/padding:60,60x60,60/rhs_dilation:13x13",
    "conv2d/input:1x5x5x3/kernel:3x2x3x4/strides:2147483647x1/padding:1,1x0,0/lhs_dilation:2147483647x1",
    "conv2d/input:1x5x5x3/kernel:2x2x3x4/padding:2147483647,0x0,0/rhs_dilation:2147483646x1",
    // groups that share columns, beyond one block of them, and groups that do not
    "conv2d/input:1x6x7x65/kernel:3x3x1x65/padding:1,1x1,1/feature_group_count:65",
    "conv2d/input:1x6x7x90/kernel:3x3x3x150/padding:1,1x1,1/feature_group_count:30",
    "conv2d/input:1x6x7x64/kernel:3x3x32x66/padding:1,1x1,1/feature_group_count:2",
    // layouts with ragged last blocks
    "conv2d/input:2x6x5x19/kernel:3x3x19x21/padding:1,1x1,1/input_layout:NCHW8c/output_layout:NCHW16c",
    "conv2d/input:1x6x5x70/kernel:3x3x70x70/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW/kernel_layout:HWOI",
    "conv2d/input:1x3x3x6/kernel:1x1x3x6/feature_group_count:2/input_layout:NCHW4c/output_layout:NCHW1024c",
    // dtypes
    "conv2d/input:1x9x9x40/kernel:3x3x40x33/padding:1,1x1,1/dtype:f16",
    "conv2d/input:1x9x9x40/kernel:3x3x40x33/padding:1,1x1,1/dtype:bf16/output_dtype:f16/output_layout:NCHW",
    "conv2d/input:1x9x9x40/kernel:3x3x40x33/padding:1,1x1,1/output_dtype:bf16",
    // epilogues
    "conv2d/input:1x9x9x4/kernel:3x3x4x70/epilogue:bias,relu,add,clamp:-0.5:0.25",
    "conv2d/input:1x9x9x4/kernel:3x3x4x70/output_dtype:f16/output_layout:NCHW16c/epilogue:add,relu,bias",
    "conv2d/input:1x9x9x4/kernel:3x3x4x8/output_layout:NCHW16c/epilogue:clamp:0.5:1",
    "conv2d/input:1x9x9x4/kernel:3x3x4x70/epilogue:bias,silu,add,leaky_relu:0.0625,gelu,hard_swish",
    "conv2d/input:1x9x9x4/kernel:3x3x4x70/epilogue:gelu_tanh,hard_sigmoid:0.2:0.5,tanh,sigmoid",
    "conv2d/input:1x9x9x4/kernel:3x3x4x8/epilogue:clamp:-inf:0.25,clamp:-0.125:inf",
    "conv2d/input:1x9x9x4/kernel:3x3x4x70/epilogue:bias,hard_swish,affine:-1.75:0.375,add",
    "conv2d/input:1x9x9x4/kernel:3x3x4x70/epilogue:bias,prelu",
    "conv2d/input:1x9x9x4/kernel:3x3x4x70/output_layout:NCHW/epilogue:scale,bias,relu",
    "conv2d/input:1x9x9x6/kernel:3x3x3x140/feature_group_count:2/output_layout:NCHW16c/epilogue:prelu,add,relu,bias",
    "conv2d/input:1x9x9x65/kernel:3x3x1x65/feature_group_count:65/dtype:bf16/epilogue:add,prelu",
    // empty results
    "conv2d/input:1x2x9x4/kernel:3x3x4x8",
    "conv2d/input:1x9x9x4/kernel:3x3x4x8/padding:-9,0x0,0",
};

// Of a draw, whether the pool runs it.
bool drawn_parallel(ConvolutionDrawer &drawer) { return drawer.rarely() || from_environment("KILN_TEST_POOL", 0) != 0; }

// How a draw is repeated.
std::string to_repeat(uint64_t seed, bool parallel, const std::string &filter, const Workload &w) {
    return "KILN_TEST_SEED=" + std::to_string(seed) + " KILN_TEST_DRAWS=1 KILN_TEST_POOL=" + (parallel ? "1 " : "0 ") +
           binary_dir() + "/fallback_tests --gtest_filter=" + filter + "  # " + key(w);
}

// As they are, and as the gradients that they have.
TEST(Fallback, AgreesWithTheReference) {
    const FallbackPackage package;
    for (const char *text : convolutions) {
        Workload w = workload(text);
        for (const Operation op : {Operation::conv, Operation::conv_backprop_input, Operation::conv_backprop_kernel}) {
            w.op = op;
            if (op != Operation::conv) w.epilogue.clear();
            for (const Data data : {Data::ordinary, Data::wide}) {
                EXPECT_EQ(fallback_problem(*package, w, make_operands(w, data, 7)), "") << key(w);
            }
        }
    }
}

TEST(Fallback, AgreesWithTheReferenceOnRandomConvolutions) {
    const FallbackPackage package;
    kiln_parallel pool;
    ASSERT_EQ(kiln_pool_create(*package, 2, &pool).code, KILN_OK);
    const uint64_t first = test_seed(), draws = from_environment("KILN_TEST_DRAWS", 1000);
    for (uint64_t seed = first; seed < first + draws; seed++) {
        ConvolutionDrawer drawer(seed);
        Workload w = drawer.next();
        if (w.op == Operation::conv && drawer.rarely()) w.epilogue.push_back({EpilogueStep::Kind::clamp, -0.5f, 2});
        const bool parallel = drawn_parallel(drawer);
        EXPECT_EQ(fallback_problem(*package, w, make_operands(w, Data::ordinary, seed), parallel ? &pool : nullptr), "")
            << to_repeat(seed, parallel, "*RandomConvolutions", w);
    }
    kiln_pool_destroy(*package, &pool);
}

TEST(Fallback, QuantizedConvolutionsAreExact) {
    const FallbackPackage package;
    kiln_parallel pool;
    ASSERT_EQ(kiln_pool_create(*package, 2, &pool).code, KILN_OK);
    const uint64_t first = test_seed(), draws = from_environment("KILN_TEST_DRAWS", 500);
    for (uint64_t seed = first; seed < first + draws; seed++) {
        ConvolutionDrawer drawer(seed);
        const Workload w = drawer.next_quantized();
        const Data data = drawer.rarely() ? Data::wide : Data::ordinary;
        const bool parallel = drawn_parallel(drawer);
        EXPECT_EQ(fallback_problem(*package, w, make_operands(w, data, seed), parallel ? &pool : nullptr), "")
            << to_repeat(seed, parallel, "*Quantized*", w);
    }
    kiln_pool_destroy(*package, &pool);
}

TEST(Fallback, RefusesQuantizationOutOfItsRange) {
    const FallbackPackage package;
    const Workload litert = workload("conv2d/input:1x4x4x4/kernel:1x1x4x8/dtype:i8/epilogue:bias,requantize_litert");
    const Workload onnx =
        workload("conv2d/input:1x4x4x4/kernel:1x1x4x8/dtype:u8/epilogue:requantize_onnx/kernel_zero_point:true");
    const Workload litert_sum = workload("conv2d/input:1x4x4x4/kernel:1x1x4x8/dtype:i8/epilogue:requantize_litert,add");
    const Workload onnx_sum = workload("conv2d/input:1x4x4x4/kernel:1x1x4x8/dtype:u8/epilogue:requantize_onnx,add");
    const struct {
        const Workload &w;
        int operand;
        Tensor Operands::*place;
        int32_t value;
        int32_t code;
    } rows[] = {
        {litert, KILN_SHIFT, &Operands::shift, -31, KILN_OK},
        {litert, KILN_SHIFT, &Operands::shift, -32, KILN_BAD_VALUE},
        {litert, KILN_SHIFT, &Operands::shift, 31, KILN_BAD_VALUE},
        {litert, KILN_MULTIPLIER, &Operands::multiplier, -1, KILN_BAD_VALUE},
        {litert, KILN_BIAS, &Operands::bias, INT32_MAX - 4 * 255 * 128, KILN_OK},
        {litert, KILN_BIAS, &Operands::bias, INT32_MAX - 4 * 255 * 128 + 1, KILN_BAD_VALUE},
        {litert, KILN_BIAS, &Operands::bias, INT32_MIN, KILN_BAD_VALUE},
        {litert, KILN_INPUT_ZERO_POINT, &Operands::input_zero_point, 128, KILN_BAD_VALUE},
        {onnx, KILN_INPUT_ZERO_POINT, &Operands::input_zero_point, 128, KILN_OK},
        {onnx, KILN_INPUT_ZERO_POINT, &Operands::input_zero_point, -1, KILN_BAD_VALUE},
        {onnx, KILN_KERNEL_ZERO_POINT, &Operands::kernel_zero_point, -129, KILN_BAD_VALUE},
        {onnx, KILN_OUTPUT_ZERO_POINT, &Operands::output_zero_point, 256, KILN_BAD_VALUE},
        {onnx, KILN_RESULT_BOUNDS, &Operands::result_bounds, 256, KILN_BAD_VALUE},
        {onnx, KILN_SCALE, &Operands::scale, 0x7f800000, KILN_BAD_VALUE},  // infinite
        {onnx, KILN_SCALE, &Operands::scale, 0x7fc00000, KILN_BAD_VALUE},  // NaN
        {litert_sum, KILN_ADDITION_SHIFT, &Operands::addition_shift, -31, KILN_OK},
        {litert_sum, KILN_ADDITION_SHIFT, &Operands::addition_shift, 1, KILN_BAD_VALUE},
        {litert_sum, KILN_ADDITION_MULTIPLIER, &Operands::addition_multiplier, -1, KILN_BAD_VALUE},
        {litert_sum, KILN_ADDEND_ZERO_POINT, &Operands::addend_zero_point, 128, KILN_BAD_VALUE},
        {onnx_sum, KILN_ADDITION_ZERO_POINT, &Operands::addition_zero_point, 256, KILN_BAD_VALUE},
        {onnx_sum, KILN_ADDITION_BOUNDS, &Operands::addition_bounds, 256, KILN_BAD_VALUE},
        {onnx_sum, KILN_ADDITION_FACTORS, &Operands::addition_factors, int32_t(0xdf800000), KILN_OK},  // -2^64
        {onnx_sum, KILN_ADDITION_FACTORS, &Operands::addition_factors, int32_t(0xdf800001),
         KILN_BAD_VALUE},                                                                            // below it
        {onnx_sum, KILN_ADDITION_FACTORS, &Operands::addition_factors, 0x7fc00000, KILN_BAD_VALUE},  // NaN
    };
    for (const auto &row : rows) {
        Operands operands = make_operands(row.w, Data::ordinary, 1);
        std::memcpy((operands.*row.place).data.data(), &row.value, sizeof row.value);
        FallbackCall call(*package, row.w, operands);
        const kiln_status status = call.run();
        EXPECT_EQ(status.code, row.code) << status.detail << " " << row.value;
        if (row.code != KILN_OK) {
            EXPECT_EQ(status.operand, row.operand) << status.detail;
        }
    }
}

TEST(Fallback, SumsOfManyTermsStayAccurate) {
    const FallbackPackage package;
    // The gradient of a kernel over 400000 pixels of one sign: the sum grows far beyond each term.
    Workload w = workload("conv2d_backprop_kernel/input:4x320x320x1/kernel:1x1x1x2");
    Operands operands = make_operands(w, Data::ordinary, 3);
    for (Tensor *tensor : {&operands.first, &operands.second}) {
        for (int64_t i = 0; i < tensor->elements(); i++) set(*tensor, i, std::fabs(get<float>(*tensor, i)));
    }
    FallbackCall call(*package, w, operands);
    ASSERT_EQ(call.run().code, KILN_OK);
    const auto expected = reference(w, operands);
    EXPECT_EQ(compare({w, call.output.data, expected->expected, expected->magnitude, 1e-6}).problem, "");
}

TEST(Fallback, SpecialValuesPropagateAsInTheDefinition) {
    const FallbackPackage package;
    for (const char *text : {
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:bias,relu",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:clamp:-1:1",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/"
             "epilogue:sigmoid,bias,leaky_relu:0.5,tanh,clamp:-inf:0.5",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:silu,hard_sigmoid:0.5:0.5,gelu,hard_swish",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:bias,gelu_tanh,add",
             "conv2d/input:1x8x9x4/kernel:3x3x4x17/padding:1,1x1,1/epilogue:prelu",
             "conv2d/input:1x8x9x12/kernel:3x3x3x8/padding:1,1x1,1/feature_group_count:4",
             "conv2d/input:1x8x9x16/kernel:3x3x1x16/padding:1,1x1,1/feature_group_count:16",
             "conv2d/input:4x5x6x3/kernel:3x2x3x6/padding:1,1x1,1/lhs_dilation:2x3/batch_group_count:2/"
             "input_layout:NCHW/output_layout:NCHW8c",
             "conv2d_backprop_input/input:1x9x8x5/kernel:3x3x5x7/strides:2x2/padding:1,1x1,1",
             "conv2d_backprop_kernel/input:1x9x8x5/kernel:3x3x5x7/strides:2x1/padding:1,1x1,1",
             "conv2d_backprop_kernel/input:1x9x8x33/kernel:3x3x33x3/padding:1,1x1,1",
         }) {
        const Workload w = workload(std::string(text) + "/special_values:exact");
        // In the operands one by one: those of either meet no zero of padding or holes here.
        for (Tensor Operands::*place : {&Operands::first, &Operands::second}) {
            Operands operands = make_operands(w, Data::ordinary, 1);
            const int64_t count = (operands.*place).elements();
            set(operands.*place, 5, nan), set(operands.*place, count / 2, inf), set(operands.*place, count - 2, -inf);
            EXPECT_EQ(fallback_problem(*package, w, operands), "") << key(w);
        }
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

TEST(Fallback, EverySixteenBitNumberIsReadAsWhatItIs) {
    const FallbackPackage package;
    for (const auto &[dtype, to_float] : {std::pair{"f16", &f16_to_float}, {"bf16", &bf16_to_float}}) {
        for (const char *layout : {"", "/input_layout:NCHW8c"}) {  // neighbours in memory, and apart
            const Workload w = workload(std::string("conv2d/input:1x256x256x1/kernel:1x1x1x1/dtype:") + dtype +
                                        "/output_dtype:f32" + layout);
            Operands operands = copying(w);
            const int64_t step = operands.first.elements() / 65536;
            for (int i = 0; i < 65536; i++) set(operands.first, i * step, static_cast<uint16_t>(i));
            FallbackCall call(*package, w, operands);
            ASSERT_EQ(call.run().code, KILN_OK);
            for (int i = 0; i < 65536; i++) {
                const float right = as_kernels_read(to_float(static_cast<uint16_t>(i))),
                            value = get<float>(call.output, i);
                ASSERT_TRUE(right == value || (std::isnan(right) && std::isnan(value))) << dtype << " " << i;
            }
        }
    }
}

TEST(Fallback, ResultsAreRoundedToNearestEven) {
    const FallbackPackage package;
    std::vector<float> values{nan,   -nan,    inf,   -inf,  0.0f,     65519,      65520,       65504,       1e9f,
                              3e38f, 3.4e38f, 6e-8f, 3e-8f, 0x1p-25f, 0x1.8p-24f, -0x1.8p-24f, 0x1.ffep-15f};
    for (int i = 0; i < 4096; i++) {  // halfway between neighbours of f16 and of bf16, and just beside
        values.push_back((1 + i * 0x1p-11f) * 0x1p3f);
        values.push_back(std::nextafter(values.back(), inf));
        values.push_back(-(1 + i % 256 * 0x1p-8f) * 0x1p-10f);
        values.push_back(std::nextafter(values.back(), inf));
    }
    const std::string shape = "conv2d/input:1x1x" + std::to_string(values.size()) + "x1/kernel:1x1x1x1/output_dtype:";
    for (const auto &[dtype, rounded] : {std::pair{"f16", &float_to_f16}, {"bf16", &float_to_bf16}}) {
        const Workload w = workload(shape + dtype);
        Operands operands = copying(w);
        for (size_t i = 0; i < values.size(); i++) set(operands.first, int64_t(i), values[i]);
        FallbackCall call(*package, w, operands);
        ASSERT_EQ(call.run().code, KILN_OK);
        for (size_t i = 0; i < values.size(); i++) {
            EXPECT_EQ(get<uint16_t>(call.output, int64_t(i)) & (std::isnan(values[i]) ? 0x7fff : 0xffff),
                      rounded(values[i]) & (std::isnan(values[i]) ? 0x7fff : 0xffff))
                << dtype << " " << values[i];
        }
    }
}

TEST(Fallback, AnyNumberOfThreadsGivesTheSameBits) {
    const FallbackPackage package;
    for (const char *text : {"conv2d/input:1x13x14x20/kernel:3x3x20x100/padding:1,1x1,1",
                             "conv2d_backprop_input/input:1x13x14x20/kernel:3x3x20x30/padding:1,1x1,1",
                             "conv2d_backprop_kernel/input:1x13x14x20/kernel:3x3x20x30/padding:1,1x1,1",
                             "conv2d/input:1x1x1x1/kernel:1x1x1x1"}) {
        const Workload w = workload(text);
        const Operands operands = make_operands(w, Data::ordinary, 1);
        FallbackCall alone(*package, w, operands);
        ASSERT_EQ(alone.run().code, KILN_OK);
        for (const int threads : {1, 2, 5}) {
            kiln_parallel pool;
            ASSERT_EQ(kiln_pool_create(*package, threads, &pool).code, KILN_OK);
            FallbackCall call(*package, w, operands, threads);
            call.arguments.parallel = &pool;
            EXPECT_EQ(call.run().code, KILN_OK);
            EXPECT_EQ(call.output, alone.output) << text << " with " << threads << " threads";
            kiln_pool_destroy(*package, &pool);
        }
    }
}

TEST(Fallback, AThreadThatWasNotAnnouncedDoesNotRun) {
    const FallbackPackage package;
    const Workload w = workload("conv2d/input:1x13x14x20/kernel:3x3x20x100/padding:1,1x1,1");
    const Operands operands = make_operands(w, Data::ordinary, 1);
    for (int thread : {2, 100, -1}) {
        FallbackCall call(*package, w, operands, 2);
        const Tensor output = call.output;
        const kiln_parallel own = {[](void *pool, int count, kiln_task task, void *argument) {
                                       for (int i = 0; i < count; i++) task(argument, i, *static_cast<int *>(pool));
                                   },
                                   &thread, 2};
        call.arguments.parallel = &own;
        EXPECT_EQ(call.run().code, KILN_KERNEL_FAILED) << thread;
        EXPECT_EQ(call.output, output) << thread;
    }
}

TEST(Fallback, IsReentrant) {
    const FallbackPackage package;
    const Workload w = workload("conv2d/input:1x9x9x16/kernel:3x3x16x16/padding:1,1x1,1");
    const Operands operands = make_operands(w, Data::ordinary, 1);
    FallbackCall alone(*package, w, operands);
    ASSERT_EQ(alone.run().code, KILN_OK);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            FallbackCall call(*package, w, operands);
            call.kernel = alone.kernel;  // one kernel, several calls
            for (int i = 0; i < 20; i++) wrong += call.run().code != KILN_OK || call.output != alone.output;
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// The checks are those of every kernel; here that they know the fallback's operands.
TEST(Fallback, RefusesWrongCallsWithoutTouchingMemory) {
    const FallbackPackage package;
    struct Row {
        const char *what;
        int32_t code;
        int operand;
        std::function<void(FallbackCall &)> change;
    };
    const Row rows[] = {
        {"null input", KILN_NULL_ARGUMENT, KILN_INPUT, [](auto &c) { c.arguments.input.data = nullptr; }},
        {"null bias", KILN_NULL_ARGUMENT, KILN_BIAS, [](auto &c) { c.arguments.bias.data = nullptr; }},
        {"null slope", KILN_NULL_ARGUMENT, KILN_SLOPE, [](auto &c) { c.arguments.slope.data = nullptr; }},
        {"null workspace", KILN_NULL_ARGUMENT, KILN_WORKSPACE, [](auto &c) { c.arguments.workspace = nullptr; }},
        {"dtype", KILN_BAD_DTYPE, KILN_OUTPUT, [](auto &c) { c.arguments.output.dtype = KILN_F32; }},
        {"rank", KILN_BAD_RANK, KILN_OUTPUT, [](auto &c) { c.arguments.output.rank = 4; }},
        {"shape", KILN_BAD_SHAPE, KILN_ADDEND, [](auto &c) { c.arguments.addend.shape[4]++; }},
        {"shape of the slope", KILN_BAD_SHAPE, KILN_SLOPE, [](auto &c) { c.arguments.slope.shape[0]--; }},
        {"strides", KILN_BAD_STRIDE, KILN_WEIGHTS, [](auto &c) { c.arguments.weights.strides[3] = 2; }},
        {"device", KILN_BAD_DEVICE, KILN_INPUT, [](auto &c) { c.arguments.input.device = 1; }},
        {"misaligned", KILN_BAD_ALIGNMENT, KILN_INPUT,
         [](auto &c) { c.arguments.input.data = static_cast<char *>(c.arguments.input.data) + 1; }},
        {"workspace", KILN_BUFFER_TOO_SMALL, KILN_WORKSPACE, [](auto &c) { c.arguments.workspace_bytes--; }},
        {"overlap", KILN_OVERLAP, KILN_ADDEND, [](auto &c) { c.arguments.addend.data = c.arguments.output.data; }},
        {"threads", KILN_BAD_THREADS, -1,
         [](auto &c) {
             static const kiln_parallel none = {nullptr, nullptr, 2};
             c.arguments.parallel = &none;
         }},
        {"arguments of another version", KILN_BAD_VERSION, -1, [](auto &c) { c.arguments.struct_size--; }},
    };
    const Workload w = workload(
        "conv2d/input:1x5x6x7/kernel:3x3x7x9/dtype:f16/input_layout:NCHW4c/output_layout:NCHW4c/"
        "epilogue:bias,add,prelu");
    const Operands operands = make_operands(w, Data::ordinary, 1);
    EXPECT_EQ(fallback_problem(*package, w, operands), "");
    for (const Row &row : rows) {
        FallbackCall call(*package, w, operands);
        const Tensor output = call.output;
        const std::vector<char> workspace = call.workspace;
        row.change(call);
        const kiln_status status = call.run();
        EXPECT_EQ(status.code, row.code) << row.what << ": " << status.detail;
        EXPECT_EQ(status.operand, row.operand) << row.what;
        EXPECT_EQ(call.output, output) << row.what;
        EXPECT_EQ(call.workspace, workspace) << row.what;
    }
}

// Each library of arrays has other strides for them.
TEST(Fallback, StridesOfEmptyTensorsDoNotCount) {
    const FallbackPackage package;
    const Workload w = workload("conv2d/input:2x2x9x4/kernel:3x3x4x8");
    FallbackCall call(*package, w, make_operands(w, Data::ordinary, 1));
    ASSERT_NE(call.kernel, nullptr) << call.made.detail;
    const int64_t strides[] = {56, 56, 8, 1};  // numpy's of 2x0x7x8
    std::copy(strides, strides + 4, call.arguments.output.strides);
    const kiln_status status = call.run();
    EXPECT_EQ(status.code, KILN_OK) << status.detail;
}

TEST(Fallback, PackAndPrepareDoNothing) {
    const FallbackPackage package;
    const Workload w = workload("conv2d/input:1x5x6x7/kernel:3x3x7x9");
    FallbackCall call(*package, w, make_operands(w, Data::ordinary, 1));
    EXPECT_EQ(kiln_pack(call.kernel, &call.arguments).code, KILN_OK);
    EXPECT_EQ(kiln_prepare(call.kernel, &call.arguments).code, KILN_OK);
    EXPECT_EQ(kiln_pack(call.kernel, nullptr).code, KILN_NULL_ARGUMENT);
}

}  // namespace
}  // namespace kiln
