// Keys are in every database and package that exists: the texts in this file never change.
#include "workload/workload.h"

#include <gtest/gtest.h>

#include <limits>

namespace kiln {
namespace {

Workload conv3x3() {
    Workload w = convolution({1, 56, 56, 64}, {3, 3, 64, 64});
    w.padding = {{1, 1}, {1, 1}};
    return w;
}

Workload separable(Workload w) {
    w.kernel[0] = w.kernel[1] = 1;
    w.depthwise = {3, 3};
    return w;
}

Workload winograd(Operation op, std::vector<int64_t> input) {
    Workload w;
    w.op = op;
    w.input = std::move(input);
    w.tile = {4, 4};
    fill_defaults(&w);
    return w;
}

TEST(WorkloadKey, IsFrozen) {
    struct Row {
        const char *key;
        Workload workload;
    };
    std::vector<Row> rows;
    rows.push_back({"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", conv3x3()});
    rows.push_back({"conv2d/input:1x56x56x64/kernel:1x1x64x256", convolution({1, 56, 56, 64}, {1, 1, 64, 256})});
    rows.push_back({"conv1d/input:2x9x4/kernel:3x4x8", convolution({2, 9, 4}, {3, 4, 8})});
    rows.push_back({"conv3d/input:1x8x9x10x3/kernel:3x1x2x3x5", convolution({1, 8, 9, 10, 3}, {3, 1, 2, 3, 5})});
    Workload w = conv3x3();
    w.op = Operation::conv_backprop_input;
    rows.push_back({"conv2d_backprop_input/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", w});
    w = convolution({2, 9, 8, 12}, {3, 3, 3, 8});
    w.strides = {2, 1};
    w.padding = {{-1, 1}, {2, -2}};
    w.lhs_dilation = {1, 2};
    w.rhs_dilation = {3, 1};
    w.feature_group_count = 4;
    w.dtype = DType::bf16;
    w.output_dtype = DType::f32;
    w.input_layout = {ActivationLayout::Kind::nchw, 0};
    w.output_layout = {ActivationLayout::Kind::nchwc, 16};
    w.kernel_layout = KernelLayout::hwoi;
    using Kind = EpilogueStep::Kind;
    w.epilogue = {{Kind::bias}, {Kind::add}, {Kind::relu}, {Kind::clamp, -0.5f, 6}};
    w.special_values = SpecialValues::exact;
    rows.push_back(
        {"conv2d/input:2x9x8x12/kernel:3x3x3x8/strides:2x1/padding:-1,1x2,-2/lhs_dilation:1x2/rhs_dilation:3x1/"
         "feature_group_count:4/dtype:bf16/output_dtype:f32/input_layout:NCHW/output_layout:NCHW16c/"
         "kernel_layout:HWOI/epilogue:bias,add,relu,clamp:-0.5:6/special_values:exact",
         w});
    w = convolution({1, 4, 4, 3}, {1, 1, 3, 6});
    w.epilogue = {{Kind::bias},
                  {Kind::silu},
                  {Kind::add},
                  {Kind::leaky_relu, 0.01f},
                  {Kind::hard_sigmoid, 0.2f, 0.5f},
                  {Kind::hard_swish},
                  {Kind::prelu},
                  {Kind::clamp, -INFINITY, 6}};
    rows.push_back(
        {"conv2d/input:1x4x4x3/kernel:1x1x3x6/epilogue:bias,silu,add,leaky_relu:0.01,hard_sigmoid:0.2:0.5,"
         "hard_swish,prelu,clamp:-inf:6",
         w});
    w = convolution({1, 4, 4, 3}, {1, 1, 3, 6});
    w.epilogue = {{Kind::scale}};
    w.prologue = {{Kind::scale}, {Kind::bias}, {Kind::clamp, 0, 6}};
    rows.push_back({"conv2d/input:1x4x4x3/kernel:1x1x3x6/epilogue:scale/prologue:scale,bias,clamp:0:6", w});
    w = convolution({1, 8, 9, 3}, {1, 1, 3, 6});
    w.strides = {2, 1}, w.padding = {{1, 0}, {2, 2}}, w.rhs_dilation = {1, 2};
    w.prologue = {{Kind::bias}, {Kind::relu}};
    w.depthwise = {3, 5};
    rows.push_back(
        {"conv2d/input:1x8x9x3/kernel:1x1x3x6/strides:2x1/padding:1,0x2,2/rhs_dilation:1x2/prologue:bias,relu/"
         "depthwise:3x5",
         w});
    w = convolution({4, 5, 5, 3}, {2, 2, 3, 6});
    w.batch_group_count = 2;
    rows.push_back({"conv2d/input:4x5x5x3/kernel:2x2x3x6/batch_group_count:2", w});
    w = convolution({1, 8, 8, 3}, {});
    w.op = Operation::space_to_depth;
    w.block = {2, 2};
    w.dtype = w.output_dtype = DType::i8;
    rows.push_back({"space_to_depth/input:1x8x8x3/dtype:i8/block:2x2", w});
    w = convolution({1, 8, 8, 3}, {});
    w.op = Operation::layout_transform;
    w.from_layout = "NHWC";
    w.to_layout = "NCHW16c";
    rows.push_back({"layout_transform/input:1x8x8x3/from_layout:NHWC/to_layout:NCHW16c", w});
    w = convolution({1, 8, 3}, {});
    w.op = Operation::layout_transform;
    w.input.clear();
    w.kernel = {3, 4, 8};
    w.from_layout = "OIHW";
    w.to_layout = "OIHW8o";
    rows.push_back({"layout_transform/kernel:3x4x8/from_layout:OIHW/to_layout:OIHW8o", w});

    w = winograd(Operation::winograd_input_transform, {1, 56, 56, 64});
    w.padding = {{1, 1}, {1, 1}};
    w.window = {3, 3};
    rows.push_back({"winograd_input_transform/input:1x56x56x64/padding:1,1x1,1/window:3x3/tile:4x4", w});
    w.input_layout = w.output_layout = {ActivationLayout::Kind::nchw, 0};
    w.output_dtype = DType::bf16;
    w.points = 1;
    w.tile_dimensions = {3, 4};
    w.batch = false;
    rows.push_back(
        {"winograd_input_transform/input:1x56x56x64/padding:1,1x1,1/output_dtype:bf16/input_layout:NCHW/"
         "output_layout:NCHW/window:3x3/tile:4x4/points:1/tile_dimensions:3x4/batch:false",
         w});
    w = winograd(Operation::winograd_filter_transform, {});
    w.kernel = {3, 3, 64, 32};
    w.kernel_layout = KernelLayout::hwoi;
    rows.push_back({"winograd_filter_transform/kernel:3x3x64x32/kernel_layout:HWOI/tile:4x4", w});
    w = winograd(Operation::winograd_output_transform, {2, 14, 13, 64});
    w.window = {3, 1};
    rows.push_back({"winograd_output_transform/input:2x14x13x64/window:3x1/tile:4x4", w});
    w.output = {55, 49};
    rows.push_back({"winograd_output_transform/input:2x14x13x64/window:3x1/tile:4x4/output:55x49", w});

    for (const Row &row : rows) {
        EXPECT_EQ(key(row.workload), row.key);
        const auto parsed = parse_workload_key(row.key);
        ASSERT_TRUE(parsed) << parsed.error().message;
        EXPECT_EQ(*parsed, row.workload) << row.key;
    }
}

TEST(WorkloadKey, RefusesWhatIsNotCanonical) {
    for (const char *text : {
             "",
             "conv2d",
             "conv4d/input:1x1x1x1/kernel:1x1x1x1",
             "conv2d/input:1x56x56x64",
             "conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:0,0x0,0",     // a default, written out
             "conv2d/kernel:3x3x64x64/input:1x56x56x64",                     // order
             "conv2d/input:1x56x56x64/input:1x56x56x64/kernel:3x3x64x64",    // twice
             "conv2d/input:1x56x56x64/kernel:3x3x64x64/flavour:sweet",       // unknown field
             "conv2d/input:1x56x56x64/kernel:3x3x64x64/dtype:f64",           // unknown value
             "conv2d/input:1x56x56x64/kernel:3x3x64x64/strides:2",           // too few
             "conv2d/input:1x56x056x64/kernel:3x3x64x64",                    // leading zero
             "conv2d/input:1x56x56x64/kernel:3x3x64x64/epilogue:clamp:6:0",  // lo > hi
             "conv2d/input:1x56x56x99999999999999999999/kernel:3x3x64x64",   // no int64
             "conv2d/input:1x56x56x64/kernel:3x3x64x64/",
             "conv2d/input:1x56x56x64/kernel:3x3x64x64/tile:4x4",                        // of another operation
             "winograd_filter_transform/kernel:3x3x4x8/tile:4x4/tile_dimensions:0x1",    // the default
             "winograd_output_transform/input:1x2x3x8/window:3x3/tile:4x4/output:8x12",  // the default
             "winograd_input_transform/input:1x8x8x8/window:3x3/tile:4x4/batch:true",    // the default
             "winograd_input_transform/input:1x8x8x8/strides:2x2/window:3x3/tile:4x4",   // no meaning
             "winograd_filter_transform/input:1x8x8x4/kernel:3x3x4x8/tile:4x4",          // no meaning
             "winograd_filter_transform/kernel:3x3x4x8/tile:99999999999x4",
         }) {
        EXPECT_FALSE(parse_workload_key(text)) << text;
    }
}

TEST(Workload, ShapesAndOperations) {
    struct Row {
        int64_t input, kernel, stride, lo, hi, lhs, rhs, output;
    };
    // XLA's formula, by hand.
    constexpr Row rows[] = {
        {56, 3, 1, 1, 1, 1, 1, 56}, {224, 7, 2, 3, 3, 1, 1, 112}, {59, 11, 4, 0, 0, 1, 1, 13},
        {15, 3, 1, 4, 4, 1, 4, 15}, {9, 3, 1, -1, 1, 1, 1, 7},    {8, 3, 2, 2, -2, 1, 1, 3},
        {28, 4, 1, 2, 2, 2, 1, 56}, {2, 3, 1, 0, 0, 1, 1, 0},     {1, 1, 13, 0, 0, 13, 13, 1},
        {3, 1, 1, -2, -1, 1, 1, 0},
    };
    for (const Row &r : rows) {
        Workload w = convolution({2, r.input, 5}, {r.kernel, 5, 7});
        w.strides = {r.stride};
        w.padding = {{r.lo, r.hi}};
        w.lhs_dilation = {r.lhs};
        w.rhs_dilation = {r.rhs};
        ASSERT_TRUE(validate(w));
        EXPECT_EQ(output_shape(w), (std::vector<int64_t>{2, r.output, 7})) << r.input << " " << r.kernel;
        EXPECT_EQ(flop_count(w), 2 * 2 * r.output * 7 * 5 * r.kernel);
    }
    EXPECT_EQ(flop_count(conv3x3()), 231211008);
    Workload grouped = convolution({4, 5, 5, 12}, {1, 1, 3, 8});
    grouped.feature_group_count = 4;
    EXPECT_EQ(flop_count(grouped), 2 * 4 * 25 * 8 * 3);
}

TEST(Workload, ValidationNamesTheField) {
    struct Row {
        const char *field;
        void (*spoil)(Workload &);
    };
    const Row rows[] = {
        {"input", [](Workload &w) { w.input[1] = 0; }},
        {"input", [](Workload &w) { w.input[3] = -64; }},
        {"input",
         [](Workload &w) {
             w.input = {1, 2};
         }},
        {"input", [](Workload &w) { w.input.assign(4, 2147483647); }},
        {"kernel",
         [](Workload &w) {
             w.kernel = {3, 3, 64};
         }},
        {"kernel", [](Workload &w) { w.kernel[0] = 0; }},
        {"kernel", [](Workload &w) { w.kernel[2] = 32; }},
        {"strides",
         [](Workload &w) {
             w.strides = {0, 1};
         }},
        {"strides", [](Workload &w) { w.strides = {1}; }},
        {"padding",
         [](Workload &w) {
             w.padding = {{1, 1}};
         }},
        {"padding", [](Workload &w) { w.padding[0].lo = std::numeric_limits<int64_t>::min(); }},
        {"lhs_dilation",
         [](Workload &w) {
             w.lhs_dilation = {1, 0};
         }},
        {"rhs_dilation",
         [](Workload &w) {
             w.rhs_dilation = {1, -1};
         }},
        {"feature_group_count", [](Workload &w) { w.feature_group_count = 0; }},
        {"feature_group_count", [](Workload &w) { w.feature_group_count = 3; }},
        {"batch_group_count", [](Workload &w) { w.batch_group_count = 2; }},
        {"batch_group_count", [](Workload &w) { w.batch_group_count = -1; }},
        {"groups",
         [](Workload &w) {
             w.feature_group_count = 2, w.kernel = {3, 3, 32, 63};
         }},
        {"epilogue",
         [](Workload &w) {
             w.epilogue = {{EpilogueStep::Kind::bias}, {EpilogueStep::Kind::bias}};
         }},
        {"epilogue has `prelu` more than once",
         [](Workload &w) {
             w.epilogue = {{EpilogueStep::Kind::prelu}, {EpilogueStep::Kind::bias}, {EpilogueStep::Kind::prelu}};
         }},
        {"epilogue: clamp needs lo <= hi",
         [](Workload &w) {
             w.epilogue = {{EpilogueStep::Kind::clamp, 1, 0}};
         }},
        {"prologue: clamp needs lo <= hi",
         [](Workload &w) {
             w.prologue = {{EpilogueStep::Kind::clamp, 1, 0}};
         }},
        {"prologue has `scale` more than once",
         [](Workload &w) {
             w.prologue = {{EpilogueStep::Kind::scale}, {EpilogueStep::Kind::relu}, {EpilogueStep::Kind::scale}};
         }},
        {"prologue has `add`; needs scale, bias", [](Workload &w) { w.prologue = {{EpilogueStep::Kind::add}}; }},
        {"prologue has `prelu`; needs scale, bias", [](Workload &w) { w.prologue = {{EpilogueStep::Kind::prelu}}; }},
        {"depthwise has 1 entries; needs 2", [](Workload &w) { w.depthwise = {3}; }},
        {"depthwise has an entry of 0",
         [](Workload &w) {
             w.depthwise = {3, 0};
         }},
        {"kernel has a window of 3, but behind `depthwise`",
         [](Workload &w) {
             w.depthwise = {3, 3};
         }},
        {"lhs_dilation is 2; with `depthwise` it needs 1",
         [](Workload &w) {
             w = separable(w), w.lhs_dilation = {2, 1};
         }},
        {"feature_group_count or batch_group_count is above 1; with `depthwise`",
         [](Workload &w) { w = separable(w), w.feature_group_count = 2, w.kernel[2] /= 2; }},
        {"depthwise has no meaning where dtype is i8",
         [](Workload &w) { w = separable(w), w.dtype = DType::i8, w.output_dtype = DType::i32; }},
        {"input, depthwise and kernel: the operation count is too large",
         [](Workload &w) {
             w = separable(w);
             w.depthwise = {1 << 30, 1 << 30};
             w.padding = {{(1 << 30) - w.input[1], 0}, {(1 << 30) - w.input[2], 0}};
         }},
        {"prologue has no meaning where dtype is i8",
         [](Workload &w) {
             w.dtype = DType::i8, w.output_dtype = DType::i32, w.prologue = {{EpilogueStep::Kind::relu}};
         }},
        {"epilogue: clamp needs lo <= hi",
         [](Workload &w) {
             w.epilogue = {{EpilogueStep::Kind::clamp, 0, NAN}};
         }},
        {"epilogue: leaky_relu:alpha needs finite numbers",
         [](Workload &w) {
             w.epilogue = {{EpilogueStep::Kind::leaky_relu, INFINITY}};
         }},
        {"epilogue: hard_sigmoid:alpha:beta needs finite numbers",
         [](Workload &w) {
             w.epilogue = {{EpilogueStep::Kind::hard_sigmoid, 0.2f, NAN}};
         }},
        {"output",
         [](Workload &w) {
             w.padding[0] = w.padding[1] = {2000000000, 2000000000};
         }},
        {"input_layout",
         [](Workload &w) {
             w.input_layout = {ActivationLayout::Kind::nchwc, 0};
         }},
        {"spatial", [](Workload &w) { w.spatial_rank = 4; }},
    };
    for (const Row &row : rows) {
        Workload w = conv3x3();
        row.spoil(w);
        const Status status = validate(w);
        ASSERT_FALSE(status) << row.field;
        EXPECT_NE(status.error().message.find(row.field), std::string::npos) << status.error().message;
    }
}

TEST(Workload, ValidationOfTransformsNamesTheField) {
    struct Row {
        const char *key, *reason;
    };
    constexpr Row rows[] = {
        {"winograd_input_transform/window:3x3/tile:4x4", "input has 0 entries"},
        {"winograd_input_transform/input:1x8x8/window:3x3/tile:4x4", "input has 3 entries; needs 4"},
        {"winograd_input_transform/input:1x8x8x4/tile:4x4", "window has 0 entries; needs 2"},
        {"winograd_input_transform/input:1x8x8x4/window:3x3", "tile has 0 entries; needs 2"},
        {"winograd_input_transform/input:1x8x8x4/window:3x3/tile:0x4", "tile has an entry of 0"},
        {"winograd_input_transform/input:1x8x8x4/padding:1,1/window:3x3/tile:4x4", "padding has 1 entries"},
        {"winograd_input_transform/input:1x8x8x4/dtype:i8/window:3x3/tile:4x4",
         "dtype: a Winograd transform has no integers"},
        {"winograd_input_transform/input:1x8x8x4/output_layout:NCHW4c/window:3x3/tile:4x4",
         "output_layout: a transformed tensor has no blocks"},
        {"winograd_input_transform/input:1x8x8x4/window:3x3/tile:4x4/points:-1", "points is -1"},
        {"winograd_input_transform/input:1x8x8x4/window:3x3/tile:4x4/tile_dimensions:0x6",
         "tile_dimensions has a position of 6, but the transformed tensor has 6 dimensions"},
        {"winograd_input_transform/input:1x8x8x4/window:3x3/tile:4x4/tile_dimensions:4x5/batch:false",
         "tile_dimensions has a position of 5, but the transformed tensor has 5"},
        {"winograd_input_transform/input:1x8x8x4/window:3x3/tile:4x4/tile_dimensions:2x2", "twice"},
        {"winograd_input_transform/input:1x8x8x4/window:3x3/tile:4x4/tile_dimensions:2",
         "tile_dimensions has 1 entries"},
        {"winograd_input_transform/input:2x8x8x4/window:3x3/tile:4x4/batch:false", "batch is false, but input has"},
        {"winograd_input_transform/input:1x8x8x4/window:3x3/tile:4x4/output:8x8", "output has no meaning"},
        {"winograd_filter_transform/kernel:3x3x4/tile:4x4", "kernel has 3 entries; needs 4"},
        {"winograd_filter_transform/kernel:3x3x4x8/tile:2147483647x2147483647", "output: a tensor of this shape"},
        {"winograd_output_transform/input:1x2x2x4/input_layout:NCHW4c/window:3x3/tile:4x4", "input_layout"},
        {"winograd_output_transform/input:1x2x2x4/window:3x3/tile:4x4/output:4x8", "are for 5 to 8"},
        {"winograd_output_transform/input:1x2x2x4/window:3x3/tile:4x4/output:8x9", "are for 5 to 8"},
        {"winograd_output_transform/input:1x2x2x4/padding:1,1x1,1/window:3x3/tile:4x4", "padding has no meaning"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/window:3x3", "window has no meaning for conv2d"},
        {"layout_transform/input:1x8x8x3/from_layout:NHWC/to_layout:NWHC", "to_layout: `NWHC` is no layout"},
        {"layout_transform/kernel:3x3x4x8/from_layout:NHWC/to_layout:OIHW", "from_layout: NHWC is a layout of activ"},
        {"layout_transform/input:1x8x8x3/dtype:f16/output_dtype:f32/from_layout:NHWC/to_layout:NCHW", "output_dtype"},
        {"depth_to_space/input:1x8x8x6/block:2x2", "do not divide the 6 channels"},
        {"space_to_depth/input:1x8x8x6/block:2", "block has 1 entries"},
        {"space_to_depth/input:1x8x8x2000000000/block:2000000000x2000000000", "block: the result is too large"},
        {"space_to_depth/input:1x8x8x4/padding:1,1x1,1/block:2x2", "padding has no meaning for space_to_depth"},
    };
    for (const Row &row : rows) {
        const auto parsed = parse_workload_key(row.key);
        ASSERT_FALSE(parsed) << row.key;
        EXPECT_NE(parsed.error().message.find(row.reason), std::string::npos) << parsed.error().message;
    }
}

TEST(WorkloadNames, RoundTrip) {
    for (const char *text : {"f32", "f16", "bf16", "i8"}) EXPECT_EQ(name(*parse_dtype(text)), text);
    for (const char *text : {"NHWC", "NCHW", "NCHW8c", "NCHW16c"})
        EXPECT_EQ(name(*parse_activation_layout(text)), text);
    for (const char *text : {"HWIO", "HWOI"}) EXPECT_EQ(name(*parse_kernel_layout(text)), text);
    for (const char *text : {"", "F32", "f64", "NHWC "}) EXPECT_FALSE(parse_dtype(text));
    for (const char *text : {"", "nhwc", "NCHW1c", "NCHWc", "NCHW-8c", "NCHW8", "NCHW99999999999c"}) {
        EXPECT_FALSE(parse_activation_layout(text)) << text;
    }
}

}  // namespace
}  // namespace kiln
