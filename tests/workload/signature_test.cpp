// Operands and results of every operation that has a signature: roles, names, dtypes, extents, dimensions as stored.
#include "workload/signature.h"

#include <gtest/gtest.h>

#include "workload/winograd_sizes.h"

namespace kiln {
namespace {

// "kernel:f32[kh=3, kw=3, ci=4, co=8]"
std::string text(const TensorForm &form) {
    std::string result = std::string(form.name) + ":" + std::string(name(form.dtype)) + "[";
    for (const StoredDimension &d : form.stored) {
        if (result.back() != '[') result += ", ";
        result += d.name + "=" + std::to_string(d.extent);
    }
    return result + "]";
}

TEST(Signature, IsTheOneAnswer) {
    struct Row {
        const char *key;
        std::vector<Role> roles;
        std::vector<std::string> operands;
        const char *result;
    };
    using enum Role;
    const Row rows[] = {
        {"conv2d/input:2x8x9x20/kernel:3x3x20x32/strides:2x2/dtype:f16/output_dtype:f32/output_layout:NCHW16c/"
         "epilogue:bias,add",
         {input, weights, bias, addend},
         {"input:f16[n=2, h=8, w=9, c=20]", "kernel:f16[kh=3, kw=3, ci=20, co=32]", "bias:f32[c=32]",
          "addend:f32[n=2, c_block=2, h=3, w=4, c=16]"},
         "output:f32[n=2, c_block=2, h=3, w=4, c=16]"},
        {"conv3d/input:1x2x3x4x5/kernel:1x1x1x5x6/dtype:bf16/epilogue:prelu,add,bias",
         {input, weights, bias, addend, slope},
         {"input:bf16[n=1, d=2, h=3, w=4, c=5]", "kernel:bf16[kd=1, kh=1, kw=1, ci=5, co=6]", "bias:f32[c=6]",
          "addend:bf16[n=1, d=2, h=3, w=4, c=6]", "slope:f32[c=6]"},
         "output:bf16[n=1, d=2, h=3, w=4, c=6]"},
        {"conv2d/input:2x8x9x20/kernel:3x3x5x32/feature_group_count:4/input_layout:NCHW8c/epilogue:scale/"
         "prologue:bias,relu,scale",
         {input, weights, factor, input_factor, input_bias},
         {"input:f32[n=2, c_block=3, h=8, w=9, c=8]", "kernel:f32[kh=3, kw=3, ci=5, co=32]", "factor:f32[c=32]",
          "input_factor:f32[c=20]", "input_bias:f32[c=20]"},
         "output:f32[n=2, h=6, w=7, c=32]"},
        {"conv2d/input:2x8x9x20/kernel:1x1x20x32/kernel_layout:HWOI/prologue:bias/depthwise:3x5",
         {input, weights, input_bias, depthwise_kernel},
         {"input:f32[n=2, h=8, w=9, c=20]", "kernel:f32[kh=1, kw=1, co=32, ci=20]", "input_bias:f32[c=20]",
          "depthwise_kernel:f32[kh=3, kw=5, co=20, ci=1]"},
         "output:f32[n=2, h=6, w=5, c=32]"},
        {"conv1d_backprop_input/input:2x8x4/kernel:3x4x5/dtype:bf16/output_dtype:f32/output_layout:NCHW",
         {input, weights},
         {"dy:bf16[n=2, c=5, w=6]", "kernel:bf16[kw=3, ci=4, co=5]"},
         "dx:f32[n=2, w=8, c=4]"},
        {"conv3d_backprop_kernel/input:1x4x5x6x2/kernel:2x2x2x2x7/kernel_layout:HWOI",
         {input, weights},
         {"x:f32[n=1, d=4, h=5, w=6, c=2]", "dy:f32[n=1, d=3, h=4, w=5, c=7]"},
         "dk:f32[kd=2, kh=2, kw=2, co=7, ci=2]"},
        {"winograd_input_transform/input:2x13x11x5/padding:1,1x1,1/output_dtype:bf16/window:3x3/tile:4x2",
         {input},
         {"input:f32[n=2, h=13, w=11, c=5]"},
         "output:bf16[i=6, j=4, n=2, h=4, w=6, c=5]"},
        {"winograd_input_transform/input:1x13x11x5/input_layout:NCHW/output_layout:NCHW/window:3x3/tile:4x2/"
         "tile_dimensions:3x4/batch:false",
         {input},
         {"input:f32[c=5, h=13, w=11]"},
         "output:f32[c=5, h=3, w=5, i=6, j=4]"},
        {"winograd_input_transform/input:1x13x11x5/window:3x3/tile:4x2/tile_dimensions:5x1",
         {input},
         {"input:f32[n=1, h=13, w=11, c=5]"},
         "output:f32[n=1, j=4, h=3, w=5, c=5, i=6]"},
        {"winograd_filter_transform/kernel:3x1x4x8/kernel_layout:HWOI/tile:2x6/tile_dimensions:1x2",
         {weights},
         {"kernel:f32[kh=3, kw=1, co=8, ci=4]"},
         "output:f32[co=8, i=4, j=6, ci=4]"},
        {"winograd_output_transform/input:2x3x4x20/output_layout:NCHW16c/window:3x3/tile:4x4/output:11x13",
         {input},
         {"input:f32[i=6, j=6, n=2, h=3, w=4, c=20]"},
         "output:f32[n=2, c_block=2, h=11, w=13, c=16]"},
        {"winograd_output_transform/input:1x3x4x20/window:3x3/tile:4x4/batch:false",
         {input},
         {"input:f32[i=6, j=6, h=3, w=4, c=20]"},
         "output:f32[h=12, w=16, c=20]"},
        {"space_to_depth/input:2x7x8x3/dtype:i8/output_layout:NCHW/block:2x4",
         {input},
         {"input:i8[n=2, h=7, w=8, c=3]"},
         "output:i8[n=2, c=24, h=4, w=2]"},
        {"depth_to_space/input:2x7x8x24/input_layout:NCHW16c/block:2x4",
         {input},
         {"input:f32[n=2, c_block=2, h=7, w=8, c=16]"},
         "output:f32[n=2, h=14, w=32, c=3]"},
        {"layout_transform/input:2x7x8x24/dtype:bf16/from_layout:CHWN/to_layout:NCHW16c",
         {input},
         {"input:bf16[c=24, h=7, w=8, n=2]"},
         "output:bf16[n=2, c_block=2, h=7, w=8, c=16]"},
        {"layout_transform/kernel:3x5x4x8/from_layout:OIHW/to_layout:HWOI",
         {weights},
         {"kernel:f32[co=8, ci=4, kh=3, kw=5]"},
         "output:f32[kh=3, kw=5, co=8, ci=4]"},
    };
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << workload.error().message;
        const Signature s = signature(*workload);
        ASSERT_EQ(s.operands.size(), row.operands.size()) << row.key;
        for (size_t i = 0; i < row.operands.size(); i++) {
            EXPECT_EQ(text(s.operands[i]), row.operands[i]) << row.key;
            EXPECT_EQ(s.operands[i].role, row.roles[i]) << row.key;
        }
        EXPECT_EQ(text(s.result), row.result) << row.key;
        EXPECT_EQ(s.result.role, Role::output);
    }
}

// A gradient of what is empty is full of zeros.
TEST(Signature, SaysWhatIsEmpty) {
    const struct {
        const char *key;
        bool is_empty;
    } rows[] = {
        {"conv2d/input:1x2x2x4/kernel:5x5x4x8", true},
        {"conv2d/input:1x2x9x4/kernel:5x5x4x8", true},
        {"conv2d/input:1x5x5x4/kernel:5x5x4x8", false},
        {"conv2d_backprop_input/input:1x2x2x4/kernel:5x5x4x8", false},
        {"conv2d_backprop_kernel/input:1x2x2x4/kernel:5x5x4x8", false},
    };
    for (const auto &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << row.key << ": " << workload.error().message;
        EXPECT_EQ(has_empty_result(*workload), row.is_empty) << row.key;
    }
}

// Tiles cover the outputs, also where padding is negative or the image is smaller than a tile.
TEST(WinogradSizes, TilesAndOutputs) {
    struct Row {
        const char *key;
        Extents2 tiles, output;
    };
    constexpr Row rows[] = {
        {"winograd_input_transform/input:1x56x56x4/padding:1,1x1,1/window:3x3/tile:4x4", {14, 14}, {56, 56}},
        {"winograd_input_transform/input:1x8x9x4/window:3x3/tile:4x4", {2, 2}, {6, 7}},
        {"winograd_input_transform/input:1x8x9x4/padding:-1,0x0,3/window:3x1/tile:2x5", {3, 3}, {5, 12}},
        {"winograd_input_transform/input:1x2x3x4/window:3x3/tile:4x4", {0, 1}, {0, 1}},
        {"winograd_output_transform/input:1x2x3x4/window:3x3/tile:4x6", {2, 3}, {8, 18}},
        {"winograd_output_transform/input:1x2x3x4/window:3x3/tile:4x6/output:5x13", {2, 3}, {5, 13}},
        {"winograd_filter_transform/kernel:3x3x4x4/tile:4x4", {1, 1}, {1, 1}},
    };
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << workload.error().message;
        EXPECT_EQ(winograd_sizes(*workload).tiles, row.tiles) << row.key;
        EXPECT_EQ(winograd_sizes(*workload).output, row.output) << row.key;
    }
}

}  // namespace
}  // namespace kiln
