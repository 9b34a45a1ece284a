#include "package/kernel_descriptor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "runtime/cpu_features.h"
#include "runtime/descriptor.h"
#include "runtime/quantized_values.h"
#include "tuner/process/host_machine.h"
#include "workload/quantization/quantization.h"
#include "workload/signature.h"

namespace kiln {
namespace {

// Keys that differ in one field each, so that no two may have the same descriptor.
constexpr const char *keys[] = {
    "conv2d/input:1x8x8x16/kernel:3x3x16x32",
    "conv2d/input:2x8x8x16/kernel:3x3x16x32",
    "conv2d/input:1x8x9x16/kernel:3x3x16x32",
    "conv2d/input:1x8x8x16/kernel:3x1x16x32",
    "conv2d/input:1x8x8x16/kernel:3x3x16x64",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/strides:2x1",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/padding:1,0x0,0",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/padding:0,1x0,0",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/lhs_dilation:2x1",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/rhs_dilation:1x2",
    "conv2d/input:1x8x8x32/kernel:3x3x16x32/feature_group_count:2",
    "conv2d/input:2x8x8x16/kernel:3x3x16x32/batch_group_count:2",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/dtype:f16",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/output_dtype:f16",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/input_layout:NCHW",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/input_layout:NCHW8c",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/input_layout:NCHW16c",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/output_layout:NCHW16c",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/kernel_layout:HWOI",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:bias",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:bias,relu",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:relu,bias",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:clamp:0:6",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:clamp:-1:6",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:clamp:-inf:6",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:clamp:-1:inf",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:leaky_relu:0.01",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:leaky_relu:0.1",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:hard_sigmoid:0.2:0.5",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:silu",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:gelu",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/epilogue:gelu_tanh",
    "conv2d/input:1x8x8x16/kernel:3x3x16x32/special_values:exact",
    "conv2d_backprop_input/input:1x8x8x16/kernel:3x3x16x32",
    "conv2d_backprop_kernel/input:1x8x8x16/kernel:3x3x16x32",
    "conv1d/input:1x8x16/kernel:3x16x32",
    "conv3d/input:1x8x8x8x16/kernel:3x3x3x16x32",
    "space_to_depth/input:1x8x8x16/block:2x2",
    "depth_to_space/input:1x8x8x16/block:2x2",
    "layout_transform/input:1x8x8x16/from_layout:NHWC/to_layout:NCHW",
    "layout_transform/input:1x8x8x16/from_layout:NCHW/to_layout:NHWC",
    "winograd_input_transform/input:1x8x8x16/window:3x3/tile:4x4",
    "winograd_input_transform/input:1x8x8x16/padding:1,1x1,1/window:3x3/tile:4x4",
    "winograd_input_transform/input:1x8x8x16/window:5x3/tile:4x4",
    "winograd_input_transform/input:1x8x8x16/window:3x3/tile:2x4",
    "winograd_input_transform/input:1x8x8x16/window:3x3/tile:4x4/points:1",
    "winograd_input_transform/input:1x8x8x16/window:3x3/tile:4x4/tile_dimensions:3x4",
    "winograd_input_transform/input:1x8x8x16/window:3x3/tile:4x4/batch:false",
    "winograd_filter_transform/kernel:3x3x16x32/tile:4x4",
    "winograd_filter_transform/kernel:3x3x8x32/tile:4x4",
    "winograd_output_transform/input:1x8x8x16/window:3x3/tile:4x4",
    "winograd_output_transform/input:1x8x8x16/window:3x3/tile:4x4/output:32x31",
};

TEST(KernelDescriptor, TellsWorkloadsApart) {
    std::set<std::string> seen;
    for (const char *text : keys) {
        const auto workload = parse_workload_key(text);
        ASSERT_TRUE(workload.ok()) << text << ": " << workload.error().message;
        const auto descriptor = descriptor_of(*workload);
        ASSERT_TRUE(descriptor.ok()) << text << ": " << descriptor.error().message;
        const auto *bytes = reinterpret_cast<const char *>(&*descriptor);
        EXPECT_TRUE(seen.insert(std::string(bytes, sizeof *descriptor)).second) << text;
        kiln_descriptor again;
        ASSERT_EQ(normalize(*descriptor, &again), nullptr);
        EXPECT_EQ(std::memcmp(&again, &*descriptor, sizeof again), 0) << text;
    }
}

// What a caller may leave out.
TEST(KernelDescriptor, WholeTilesAreTheDefaultOfTheOutputTransform) {
    kiln_descriptor d, normalized;
    kiln_descriptor_init(&d, KILN_WINOGRAD_OUTPUT_TRANSFORM, 2);
    d.batch = 1, d.channels = 16;
    d.spatial[0] = d.spatial[1] = 8;
    d.kernel[0] = d.kernel[1] = 3;
    d.tile[0] = d.tile[1] = 4;
    ASSERT_EQ(normalize(d, &normalized), nullptr);
    const auto described =
        descriptor_of(*parse_workload_key("winograd_output_transform/input:1x8x8x16/window:3x3/tile:4x4"));
    ASSERT_TRUE(described.ok());
    EXPECT_EQ(std::memcmp(&normalized, &*described, sizeof normalized), 0);
    d.output[0] = d.output[1] = 32;
    ASSERT_EQ(normalize(d, &normalized), nullptr);
    EXPECT_EQ(std::memcmp(&normalized, &*described, sizeof normalized), 0);
}

TEST(KernelDescriptor, RefusesWhatItCannotHold) {
    Workload w = convolution({1, 8, 8, 4}, {1, 1, 4, 4});
    w.epilogue.assign(KILN_MAX_EPILOGUE + 1, {EpilogueStep::Kind::relu});
    EXPECT_EQ(descriptor_of(w).error().code, ErrorCode::unsupported);
    std::swap(w.epilogue, w.prologue);
    EXPECT_EQ(descriptor_of(w).error().code, ErrorCode::unsupported);
    Workload layout = *parse_workload_key("layout_transform/input:1x8x8x16/from_layout:NHWC/to_layout:NCHW");
    layout.to_layout = std::string(KILN_MAX_LAYOUT_NAME, 'x');
    EXPECT_EQ(descriptor_of(layout).error().code, ErrorCode::unsupported);
    // Six dimensions are the most of a call's tensors; in three spatial ones each block is one more than five.
    const std::string volume = "layout_transform/input:1x4x4x4x32/from_layout:NHWC/to_layout:NCHW2c";
    EXPECT_TRUE(descriptor_of(*parse_workload_key(volume)));
    EXPECT_EQ(descriptor_of(*parse_workload_key(volume + "2c")).error().code, ErrorCode::unsupported);
}

TEST(CallShapes, AreThoseOfTheStoredTensors) {
    const auto shapes =
        call_shapes(*parse_workload_key("conv2d/input:2x8x9x20/kernel:3x3x20x32/strides:2x2/output_layout:NCHW16c/"
                                        "epilogue:prelu,bias,scale,add/prologue:bias,scale"));
    struct Row {
        int operand;
        std::vector<int64_t> shape;
    };
    const Row rows[] = {{KILN_INPUT, {2, 8, 9, 20}},
                        {KILN_WEIGHTS, {3, 3, 20, 32}},
                        {KILN_BIAS, {32}},
                        {KILN_ADDEND, {2, 2, 3, 4, 16}},
                        {KILN_SLOPE, {32}},
                        {KILN_FACTOR, {32}},
                        {KILN_INPUT_FACTOR, {20}},
                        {KILN_INPUT_BIAS, {20}},
                        {KILN_OUTPUT, {2, 2, 3, 4, 16}}};
    for (const Row &row : rows) {
        const OperandShape &shape = shapes.operands[row.operand];
        EXPECT_EQ(shape.dtype, KILN_F32);
        EXPECT_EQ(std::vector<int64_t>(shape.shape, shape.shape + shape.rank), row.shape) << row.operand;
    }
    const auto separable = call_shapes(*parse_workload_key("conv2d/input:2x8x9x20/kernel:1x1x20x32/depthwise:3x5"));
    const OperandShape &in_front = separable.operands[KILN_DEPTHWISE_KERNEL];
    EXPECT_EQ(std::vector<int64_t>(in_front.shape, in_front.shape + in_front.rank),
              (std::vector<int64_t>{3, 5, 1, 20}));
    const auto plain = call_shapes(convolution({1, 4, 4, 1}, {1, 1, 1, 1}));
    for (const int operand :
         {KILN_BIAS, KILN_ADDEND, KILN_SLOPE, KILN_FACTOR, KILN_INPUT_FACTOR, KILN_INPUT_BIAS, KILN_DEPTHWISE_KERNEL})
        EXPECT_EQ(plain.operands[operand].rank, 0);
    const auto filter = call_shapes(*parse_workload_key("winograd_filter_transform/kernel:3x3x4x8/tile:4x4"));
    EXPECT_EQ(filter.operands[KILN_INPUT].rank, 0);
    EXPECT_EQ(filter.operands[KILN_WEIGHTS].rank, 4);
    EXPECT_EQ(filter.operands[KILN_OUTPUT].rank, 4);
    // Eight dimensions, of which a call's tensor has six.
    const Workload deep = *parse_workload_key(
        "nest/loops:2x3x4x5x6x7x8x9/operands:2x3x9x4x8x5x7x6/reads:x0[i0,i1,i7,i2,i6,i3,i5,i4]/term:x0");
    ASSERT_TRUE(descriptor_of(deep));
    const auto nest = call_shapes(deep);
    const OperandShape &read = nest.operands[KILN_INPUT], &result = nest.operands[KILN_OUTPUT];
    EXPECT_EQ(std::vector<int64_t>(read.shape, read.shape + read.rank), (std::vector<int64_t>{54, 4, 8, 5, 7, 6}));
    EXPECT_EQ(std::vector<int64_t>(result.shape, result.shape + result.rank),
              (std::vector<int64_t>{24, 5, 6, 7, 8, 9}));
}

TEST(CpuFeatures, EveryAliasCanBeDispatched) {
    uint64_t narrower = 0;
    for (const TargetAlias &alias : target_aliases()) {
        if (is_soft_core({std::string(alias.halide), 1})) continue;  // its kernels are C
        const auto bits = required_cpu_features({std::string(alias.halide), 1});
        ASSERT_TRUE(bits.ok()) << bits.error().message;
        EXPECT_EQ(*bits & narrower, narrower) << alias.name << " lacks a feature of the aliases before it";
        if (alias.name != "avxvnni") narrower = *bits;  // what AVX-512 need not have
    }
    const auto unknown = required_cpu_features({"x86-64-linux-avx-fma4", 1});
    ASSERT_FALSE(unknown.ok());
    EXPECT_EQ(unknown.error().code, ErrorCode::unsupported);
}

// Two readings of the same CPU: the machine's target string, which kernels are built for, and dispatch.
TEST(CpuFeatures, TheMachineAndDispatchAgree) {
    const auto bits = required_cpu_features({read_machine().halide_target, 1});
    ASSERT_TRUE(bits.ok());
    EXPECT_EQ(*bits, read_cpu_features());
}

// Calls check operands without the code that reads workloads.
TEST(KernelDescriptor, CallsTakeTheValuesOfQuantizationThatWorkloadsAllow) {
    for (const char *key : {"conv2d/input:1x8x8x16/kernel:3x3x16x32/dtype:i8/epilogue:bias,requantize_litert",
                            "conv2d/input:1x8x8x16/kernel:3x3x16x32/dtype:i8/epilogue:requantize_litert,add",
                            "conv2d/input:1x8x8x16/kernel:3x3x16x32/dtype:u8/epilogue:requantize_onnx,add",
                            "conv2d/input:1x8x8x16/kernel:3x3x16x32/dtype:u8/epilogue:bias,requantize_onnx/"
                            "kernel_dtype:u8/kernel_zero_point:true"}) {
        const auto w = parse_workload_key(key);
        ASSERT_TRUE(w) << w.error().message;
        const auto d = descriptor_of(*w);
        ASSERT_TRUE(d) << key;
        for (const TensorForm &operand : signature(*w).operands) {
            const std::optional<ValueRange> range = value_range(*w, operand.role);
            if (!range) continue;
            const auto holds = [&](int64_t first, int64_t last) {
                std::vector<int32_t> values(static_cast<size_t>(elements(operand.shape())), int32_t(first));
                values.back() = int32_t(last);
                return values_hold(*d, interface_code(operand.role), values.data());
            };
            EXPECT_TRUE(holds(range->lo, range->hi)) << key << " " << operand.name;
            EXPECT_FALSE(range->lo > INT32_MIN && holds(range->lo - 1, range->lo - 1)) << key << " " << operand.name;
            EXPECT_FALSE(range->hi < INT32_MAX && holds(range->hi + 1, range->hi + 1)) << key << " " << operand.name;
        }
    }
}

}  // namespace
}  // namespace kiln
