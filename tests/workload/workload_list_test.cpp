#include "workload/lists/workload_list.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/build_paths.h"
#include "workload/lists/field_values.h"
#include "workload/lists/glob.h"

namespace kiln {
namespace {

std::string list_of(const std::string &entry) {
    return R"({"format": "workloads/1", "name": "net", "workloads": [)" + entry + "]}";
}

std::string entry(const std::string &fields) {
    return list_of(R"({"name": "a", "op": "conv2d", "input": [1, 8, 8, 4], "kernel": [3, 3, 4, 16])" + fields + "}");
}

std::string transform(const std::string &fields) {
    return list_of(
        R"({"name": "a", "op": "winograd_input_transform", "input": [1, 8, 8, 4], "window": [3, 3], "tile": [4, 4], )" +
        fields + "}");
}

TEST(WorkloadList, ReadsEveryField) {
    const struct {
        std::string json, key;
    } cases[] = {
        {entry(""), "conv2d/input:1x8x8x4/kernel:3x3x4x16"},
        {entry(R"(, "strides": [2, 1], "padding": [[1, 0], [-1, 2]], "lhs_dilation": [1, 2], "rhs_dilation": [2, 1])"),
         "conv2d/input:1x8x8x4/kernel:3x3x4x16/strides:2x1/padding:1,0x-1,2/lhs_dilation:1x2/rhs_dilation:2x1"},
        {entry(R"(, "strides": [1, 1], "padding": [[0, 0], [0, 0]], "epilogue": [], "count": 3, "dtype": "f32")"),
         "conv2d/input:1x8x8x4/kernel:3x3x4x16"},
        {entry(R"(, "dtype": "bf16")"), "conv2d/input:1x8x8x4/kernel:3x3x4x16/dtype:bf16"},
        {entry(R"(, "output_dtype": "f32", "dtype": "f16")"),
         "conv2d/input:1x8x8x4/kernel:3x3x4x16/dtype:f16/output_dtype:f32"},
        {entry(R"(, "input_layout": "NCHW", "output_layout": "NCHW16c", "kernel_layout": "HWOI")"),
         "conv2d/input:1x8x8x4/kernel:3x3x4x16/input_layout:NCHW/output_layout:NCHW16c/kernel_layout:HWOI"},
        {entry(R"(, "epilogue": ["bias", "add", "relu", {"clamp": [-1, 6.5]}], "special_values": "exact")"),
         "conv2d/input:1x8x8x4/kernel:3x3x4x16/epilogue:bias,add,relu,clamp:-1:6.5/special_values:exact"},
        {entry(R"(, "epilogue": ["prelu", "add"])"), "conv2d/input:1x8x8x4/kernel:3x3x4x16/epilogue:prelu,add"},
        {entry(R"(, "prologue": ["scale", "bias", {"clamp": [0, 6]}])"),
         "conv2d/input:1x8x8x4/kernel:3x3x4x16/prologue:scale,bias,clamp:0:6"},
        {list_of(
             R"({"name": "s", "op": "conv2d", "input": [1, 8, 8, 4], "kernel": [1, 1, 4, 16], "depthwise": [3, 3]})"),
         "conv2d/input:1x8x8x4/kernel:1x1x4x16/depthwise:3x3"},
        {entry(R"(, "epilogue": ["clamp:0:6"])"), "conv2d/input:1x8x8x4/kernel:3x3x4x16/epilogue:clamp:0:6"},
        {entry(R"(, "epilogue": ["clamp:-inf:6", "silu", "hard_sigmoid:0.2:0.5"])"),
         "conv2d/input:1x8x8x4/kernel:3x3x4x16/epilogue:clamp:-inf:6,silu,hard_sigmoid:0.2:0.5"},
        {list_of(R"({"name": "g", "op": "conv1d", "input": [2, 9, 8], "kernel": [3, 4, 6], "feature_group_count": 2})"),
         "conv1d/input:2x9x8/kernel:3x4x6/feature_group_count:2"},
        {list_of(R"({"name": "b", "op": "conv3d_backprop_kernel", "input": [2, 3, 4, 5, 6], "kernel": [1, 1, 1, 6, 8],
                     "batch_group_count": 2})"),
         "conv3d_backprop_kernel/input:2x3x4x5x6/kernel:1x1x1x6x8/batch_group_count:2"},
        {list_of(R"({"name": "s", "op": "space_to_depth", "input": [1, 4, 4, 3], "block": 2})"),
         "space_to_depth/input:1x4x4x3/block:2x2"},
        {list_of(R"({"name": "s", "op": "depth_to_space", "input": [1, 4, 4, 16], "block": [2, 4]})"),
         "depth_to_space/input:1x4x4x16/block:2x4"},
        {list_of(R"({"name": "l", "op": "layout_transform", "input": [1, 4, 4, 16], "from_layout": "NHWC",
                     "to_layout": "NCHW8c"})"),
         "layout_transform/input:1x4x4x16/from_layout:NHWC/to_layout:NCHW8c"},
        {list_of(R"({"name": "k", "op": "layout_transform", "kernel": [3, 3, 4, 16], "dtype": "i8",
                     "from_layout": "OIHW", "to_layout": "OIHW16i16o"})"),
         "layout_transform/kernel:3x3x4x16/dtype:i8/from_layout:OIHW/to_layout:OIHW16i16o"},
        {list_of(R"({"name": "t", "op": "layout_transform", "input": [1, 4, 4, 3], "from_layout": "NCHW",
                     "to_layout": "NHWC", "then": [{"op": "space_to_depth", "block": 2},
                     {"op": "layout_transform", "to_layout": "NCHW16c"}]})"),
         "space_to_depth/input:1x4x4x3/input_layout:NCHW/output_layout:NCHW16c/block:2x2"},
        {transform(R"("padding": [[1, 1], [1, 1]], "input_layout": "NCHW", "output_layout": "NCHW", "points": 1,
                      "tile_dimensions": [3, 4], "batch": false, "output_dtype": "bf16")"),
         "winograd_input_transform/input:1x8x8x4/padding:1,1x1,1/output_dtype:bf16/input_layout:NCHW/"
         "output_layout:NCHW/window:3x3/tile:4x4/points:1/tile_dimensions:3x4/batch:false"},
        {transform(R"("tile_dimensions": [0, 1], "batch": true, "points": 0)"),
         "winograd_input_transform/input:1x8x8x4/window:3x3/tile:4x4"},
        {list_of(R"({"name": "f", "op": "winograd_filter_transform", "kernel": [3, 1, 4, 8], "kernel_layout": "HWOI",
                     "tile": [4, 1]})"),
         "winograd_filter_transform/kernel:3x1x4x8/kernel_layout:HWOI/tile:4x1"},
        {list_of(R"({"name": "o", "op": "winograd_output_transform", "input": [1, 2, 3, 8], "window": [3, 3],
                     "tile": [4, 4], "output": [7, 12]})"),
         "winograd_output_transform/input:1x2x3x8/window:3x3/tile:4x4/output:7x12"},
        {list_of(R"({"name": "o", "op": "winograd_output_transform", "input": [1, 2, 3, 8], "window": [3, 3],
                     "tile": [4, 4], "output": [8, 12]})"),
         "winograd_output_transform/input:1x2x3x8/window:3x3/tile:4x4"},
    };
    for (const auto &c : cases) {
        const auto list = parse_workload_list(c.json, "list.json");
        ASSERT_TRUE(list.ok()) << c.key << ": " << list.error().message;
        ASSERT_EQ(list->size(), 1u);
        EXPECT_EQ(key(list->front().workload), c.key);
        EXPECT_EQ(list->front().list, "net");
        const auto again = parse_workload_key(c.key);
        ASSERT_TRUE(again.ok()) << again.error().message;
        EXPECT_EQ(*again, list->front().workload) << c.key;
    }
    EXPECT_EQ(parse_workload_list(entry(R"(, "count": 3)"), "list.json")->front().count, 3);
    EXPECT_EQ(parse_workload_list(entry(""), "list.json")->front().count, 1);
}

TEST(WorkloadList, FieldsAreWrittenAsTheyAreRead) {
    for (const char *text :
         {"conv2d_backprop_kernel/input:4x9x11x16/kernel:3x3x8x32/strides:2x1/padding:-1,1x0,3/lhs_dilation:2x1/"
          "rhs_dilation:1x3/feature_group_count:2/dtype:f16/output_dtype:f32/input_layout:NCHW/output_layout:NCHW8c/"
          "kernel_layout:HWOI/special_values:exact",
          "conv3d/input:1x4x4x4x3/kernel:1x1x1x3x8/epilogue:bias,add,relu,clamp:-1.5:6",
          "conv2d/input:1x4x4x3/kernel:1x1x3x8/epilogue:bias,gelu,add,leaky_relu:0.01,prelu,clamp:-inf:6,clamp:0:inf",
          "space_to_depth/input:1x224x224x3/block:2x2",
          "layout_transform/input:1x8x8x32/from_layout:NHWC/to_layout:NCHW16c",
          "winograd_output_transform/input:1x2x2x16/window:3x3/tile:4x4/output:7x8"}) {
        const Result<Workload> workload = parse_workload_key(text);
        ASSERT_TRUE(workload.ok()) << workload.error().message;
        Workload back = *workload;
        for (const WorkloadField &field : workload_fields()) {
            if (!field.is_used_by(workload->op) || is_left_out(field, *workload)) continue;
            const Json value = field_value(field, *workload);
            leave_out(field, &back);
            EXPECT_FALSE(read_field(value, field, &back)) << text << " " << field.name << " " << value.dump();
        }
        EXPECT_EQ(key(back), key(*workload));
    }
}

TEST(WorkloadList, RefusesBadInputAndSaysWhere) {
    const std::string in_entry = "list.json: workloads[0] (a): ";
    const struct {
        std::string json, message;  // how the message begins
    } cases[] = {
        {"", "list.json: the file is empty"},
        {" \n\t", "list.json: the file is empty"},
        {"{", "list.json: not JSON: parse error at line 1, column 2"},
        {"{\n  \"format\": \"workloads/1\",,", "list.json: not JSON: parse error at line 2, column 27"},
        {"[]", "list.json: not a workload list"},
        {std::string(1'000'000, '['), "list.json: is nested more than 16 levels deep"},
        {"{\"format\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}",
         "list.json: is nested more than 16 levels deep"},
        {entry(", \"strides\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']')),
         "list.json: is nested more than 16 levels deep"},
        {"null", "list.json: not a workload list"},
        {"{}", "list.json: format: is missing"},
        {R"({"format": "workloads/2", "name": "n", "workloads": []})", "list.json: format: needs \"workloads/1\"; got"},
        {R"({"format": 1, "name": "n", "workloads": []})", "list.json: format: needs \"workloads/1\"; got 1"},
        {R"({"format": "workloads/1", "workloads": [1]})", "list.json: name: is missing"},
        {R"({"format": "workloads/1", "name": "n"})", "list.json: workloads: is missing"},
        {R"({"format": "workloads/1", "name": "n", "workloads": {}})", "list.json: workloads: needs a list of entries"},
        {R"({"format": "workloads/1", "name": "n", "workloads": []})", "list.json: workloads: is empty"},
        {R"({"format": "workloads/1", "name": "n", "workloads": [], "x": 1})", "list.json: x: unknown field; allowed"},
        {R"({"format": "workloads/1", "name": "n", "name": "m", "workloads": [1]})", "list.json: name: is there twice"},
        {R"({"format": "workloads/1", "name": "", "workloads": [1]})", "list.json: name: needs a text"},
        {list_of("7"), "list.json: workloads[0]: needs an object; got 7"},
        {list_of("{}"), "list.json: workloads[0]: op: is missing"},
        {list_of(R"({"op": "conv2d", "input": [1, 8, 8, 4], "kernel": [3, 3, 4, 16]})"),
         "list.json: workloads[0]: name: is missing"},
        {list_of(R"({"name": "a", "op": "conv4d"})"), in_entry + "op: needs one of conv1d, conv2d, conv3d"},
        {list_of(R"({"name": "a", "op": 2})"), in_entry + "op: needs one of conv1d"},
        {list_of(R"({"name": "a", "op": "winograd_input_transform", "input": [1, 8, 8, 4], "tile": [4, 4]})"),
         in_entry + "window: is missing"},
        {transform(R"("padding": [[1, 1]])"), in_entry + "padding has 1 entries"},
        {transform(R"("batch": "no")"), in_entry + "batch: needs true or false; got \"no\""},
        {transform(R"("points": -1)"), in_entry + "points: needs an integer from 0"},
        {transform(R"("tile_dimensions": 3)"), in_entry + "tile_dimensions: needs a list of integers from 0; got 3"},
        {transform(R"("tile_dimensions": [-1, 0])"), in_entry + "tile_dimensions: needs an integer from 0"},
        {transform(R"("tile_dimensions": [0, 6])"), in_entry + "tile_dimensions has a position of 6"},
        {transform(R"("output": [8, 8])"), in_entry + "output: has no meaning for winograd_input_transform; allowed"},
        {transform(R"("kernel": [3, 3, 4, 4])"), in_entry + "kernel: has no meaning for winograd_input_transform"},
        {list_of(R"({"name": "a", "op": "winograd_filter_transform", "kernel": [3, 3, 4, 8]})"),
         in_entry + "tile: is missing"},
        {list_of(R"({"name": "a", "op": "winograd_filter_transform", "input": [1, 8, 8, 4], "kernel": [3, 3, 4, 8],
                     "tile": [4, 4]})"),
         in_entry + "input: has no meaning for winograd_filter_transform"},
        {list_of(R"({"name": "a", "op": "conv2d", "kernel": [3, 3, 4, 16]})"), in_entry + "input: is missing"},
        {list_of(R"({"name": "a", "op": "conv2d", "input": [1, 8, 8, 4]})"), in_entry + "kernel: is missing"},
        {list_of(R"({"name": "a", "op": "space_to_depth", "input": [1, 4, 4, 3]})"), in_entry + "block: is missing"},
        {list_of(R"({"name": "a", "op": "space_to_depth", "input": [1, 4, 4, 3], "block": 0})"),
         in_entry + "block: needs an integer from 1"},
        {list_of(R"({"name": "a", "op": "space_to_depth", "input": [1, 4, 4, 3], "block": 2, "strides": [1, 1]})"),
         in_entry + "strides: has no meaning for space_to_depth"},
        {list_of(R"({"name": "a", "op": "layout_transform", "input": [1, 4, 4, 3], "from_layout": "NHWC"})"),
         in_entry + "to_layout: is missing"},
        {list_of(R"({"name": "a", "op": "layout_transform", "input": [1, 4, 4, 3], "from_layout": "NHWC",
                     "to_layout": "HWOI"})"),
         in_entry + "to_layout: HWOI is a layout of weights, but the workload has an input"},
        {list_of(R"({"name": "a", "op": "layout_transform", "kernel": [3, 3, 4, 3], "from_layout": "OIHW",
                     "to_layout": "NHWC"})"),
         in_entry + "to_layout: NHWC is a layout of activations, but the workload has a kernel"},
        {list_of(R"({"name": "a", "op": "layout_transform", "from_layout": "OIHW", "to_layout": "HWIO"})"),
         in_entry + "layout_transform has neither an input nor a kernel"},
        {list_of(R"({"name": "a", "op": "layout_transform", "input": [1, 4, 4, 3], "kernel": [3, 3, 4, 3],
                     "from_layout": "OIHW", "to_layout": "HWIO"})"),
         in_entry + "layout_transform has both an input and a kernel"},
        {list_of(R"({"name": "a", "op": "layout_transform", "input": [1, 4, 4, 3], "from_layout": "NHWC",
                     "to_layout": "NCHW1c"})"),
         in_entry + "to_layout: needs the axes N, C, HW or O, I, HW"},
        {list_of(R"({"name": "a", "op": "depth_to_space", "input": [1, 4, 4, 6], "block": 2})"),
         in_entry + "block has 4 pixels, which do not divide the 6 channels of input"},
        {list_of(R"({"name": "a", "op": "space_to_depth", "input": [1, 4, 4, 6], "block": 2,
                     "output_dtype": "f16"})"),
         in_entry + "output_dtype is f16, but data is moved as it is"},
        {entry(R"(, "then": [{"op": "space_to_depth", "block": 2}])"), in_entry + "then: has no meaning for conv2d"},
        {list_of(R"({"name": "a", "op": "space_to_depth", "input": [1, 4, 4, 6], "block": 2, "then": []})"),
         in_entry + "then: needs a list of data movements"},
        {list_of(R"({"name": "a", "op": "space_to_depth", "input": [1, 4, 4, 6], "block": 2,
                     "then": [{"op": "layout_transform", "input": [1]}]})"),
         in_entry + "then: step 1: input: is no field of a step"},
        {list_of(R"({"name": "a", "op": "space_to_depth", "input": [1, 8, 8, 6], "block": 2,
                     "then": [{"op": "space_to_depth", "block": 2}]})"),
         in_entry + "then: step 1: blocks of blocks"},
        {list_of(R"({"name": "a", "op": "space_to_depth", "input": [1, 8, 8, 6], "block": 2,
                     "then": [{"op": "conv2d"}]})"),
         in_entry + "then: step 1: "},
        {entry(R"(, "stride": [1, 1])"), in_entry + "stride: unknown field; allowed are name, count, op"},
        {entry(R"(, "block": 2)"), in_entry + "block: has no meaning for conv2d"},
        {entry(R"(, "count": 0)"), in_entry + "count: needs an integer from 1 to 2147483647; got 0"},
        {entry(R"(, "count": 1.5)"), in_entry + "count: needs an integer"},
        {entry(R"(, "count": 1, "count": 2)"), in_entry + "count: is there twice"},
        {entry(R"(, "dtype": "f64")"), in_entry + "dtype: needs one of f32, f16, bf16, i8, i32, u8; got \"f64\""},
        {entry(R"(, "output_dtype": null)"), in_entry + "output_dtype: needs one of f32"},
        {entry(R"(, "input_layout": "NWHC")"), in_entry + "input_layout: needs one of NHWC"},
        {entry(R"(, "output_layout": "NCHW1c")"), in_entry + "output_layout: needs one of NHWC"},
        {entry(R"(, "kernel_layout": "OIHW")"), in_entry + "kernel_layout: needs one of HWIO, HWOI"},
        {entry(R"(, "special_values": "fast")"), in_entry + "special_values: needs one of finite, exact"},
        {entry(R"(, "epilogue": "relu")"), in_entry + "epilogue: needs a list of"},
        {entry(R"(, "epilogue": ["gelu2"])"),
         in_entry + R"(epilogue: needs a list of "bias", "add", "relu", "clamp:lo:hi", )"},
        {entry(R"(, "epilogue": ["leaky_relu"])"), in_entry + "epilogue: needs a list of"},
        {entry(R"(, "epilogue": ["leaky_relu:inf"])"), in_entry + "epilogue: leaky_relu:alpha needs finite numbers"},
        {entry(R"(, "epilogue": ["clamp:nan:1"])"), in_entry + "epilogue: needs a list of"},
        {entry(R"(, "epilogue": ["requantize"])"), in_entry + "epilogue: needs a list of"},
        {entry(R"(, "epilogue": [{"clamp": [0]}])"), in_entry + "epilogue: needs a list of"},
        {entry(R"(, "epilogue": [{"clamp": [0, 1e300]}])"), in_entry + "epilogue: needs a list of"},
        {entry(R"(, "epilogue": [{"clamp": [6, 0]}])"), in_entry + "epilogue: clamp needs lo <= hi"},
        {entry(R"(, "epilogue": ["bias", "bias"])"), in_entry + "epilogue has `bias` more than once"},
        {entry(R"(, "epilogue": ["prelu", "prelu"])"), in_entry + "epilogue has `prelu` more than once"},
        {entry(R"(, "prologue": ["add"])"), in_entry + "prologue has `add`; needs scale, bias"},
        {entry(R"(, "prologue": ["softmax"])"), in_entry + "prologue: needs a list of"},
        {entry(R"(, "epilogue": ["prelu:0.25"])"), in_entry + "epilogue: needs a list of"},
        {entry(R"(, "strides": [0, 1])"), in_entry + "strides: needs an integer from 1 to 2147483647; got 0"},
        {entry(R"(, "strides": [-1, 1])"), in_entry + "strides: needs an integer from 1 to 2147483647; got -1"},
        {entry(R"(, "strides": 2)"), in_entry + "strides: needs a list of positive integers; got 2"},
        {entry(R"(, "strides": [1])"), in_entry + "strides has 1 entries; needs 2"},
        {entry(R"(, "strides": [])"), in_entry + "strides: needs a list of positive integers"},
        {entry(R"(, "strides": ["1", 1])"), in_entry + "strides: needs an integer from 1 to 2147483647; got \"1\""},
        {entry(R"(, "rhs_dilation": [2147483648, 1])"), in_entry + "rhs_dilation: needs an integer from 1"},
        {entry(R"(, "rhs_dilation": [18446744073709551615, 1])"), in_entry + "rhs_dilation: needs an integer from 1"},
        {entry(R"(, "rhs_dilation": [1e30, 1])"), in_entry + "rhs_dilation: needs an integer from 1"},
        {entry(R"(, "lhs_dilation": [true, 1])"), in_entry + "lhs_dilation: needs an integer from 1"},
        {entry(R"(, "padding": [1, 1])"), in_entry + "padding: needs a list of pairs"},
        {entry(R"(, "padding": [[1, 1]])"), in_entry + "padding has 1 entries; needs 2"},
        {entry(R"(, "padding": [[1, 1, 1], [1, 1, 1]])"), in_entry + "padding: needs a list of pairs"},
        {entry(R"(, "feature_group_count": 0)"), in_entry + "feature_group_count: needs an integer from 1"},
        {entry(R"(, "feature_group_count": 3)"), in_entry + "kernel has 4 input channels a group"},
        {entry(R"(, "batch_group_count": 2)"), in_entry},
        {list_of(R"({"name": "a", "op": "conv2d", "input": [1, 0, 8, 4], "kernel": [3, 3, 4, 16]})"),
         in_entry + "input: needs an integer from 1"},
        {list_of(R"({"name": "a", "op": "conv2d", "input": [1, 8, 4], "kernel": [3, 3, 4, 16]})"),
         in_entry + "input has 3 entries; needs 4"},
        {list_of(R"({"name": "a", "op": "conv2d", "input": [2147483647, 2147483647, 2147483647, 4],
                     "kernel": [3, 3, 4, 16]})"),
         in_entry + "input: a tensor of this shape is too large"},
        {list_of(R"({"name": "a", "op": "conv2d", "input": [1, 8, 8, 4], "kernel": [3, 3, 5, 16]})"),
         in_entry + "kernel has 5 input channels a group"},
    };
    for (const auto &c : cases) {
        const auto list = parse_workload_list(c.json, "list.json");
        ASSERT_FALSE(list.ok()) << c.json;
        EXPECT_TRUE(list.error().message.starts_with(c.message)) << list.error().message << "\n  is not\n" << c.message;
        EXPECT_EQ(list.error().message.find('\n'), std::string::npos) << list.error().message;
        EXPECT_EQ(list.error().code, ErrorCode::bad_input);
    }
}

TEST(WorkloadList, NamesTheEntryThatIsWrong) {
    const auto list =
        parse_workload_list(list_of(R"({"name": "a", "op": "conv1d", "input": [1, 8, 4], "kernel": [3, 4, 8]},
                {"name": "b", "op": "conv1d", "input": [1, 8, 4], "kernel": [3, 4, 8], "kernel": [3, 4, 8]})"),
                            "list.json");
    ASSERT_FALSE(list.ok());
    EXPECT_EQ(list.error().message, "list.json: workloads[1] (b): kernel: is there twice; leave one");
}

TEST(WorkloadList, RefusesWhatIsNoFile) {
    for (const auto &[path, message] :
         {std::pair{"/nonexistent/list.json", "cannot be opened"}, {"/", "is a folder"}}) {
        const auto list = read_workload_list(path);
        ASSERT_FALSE(list.ok());
        EXPECT_NE(list.error().message.find(message), std::string::npos) << list.error().message;
        EXPECT_TRUE(list.error().message.starts_with(path)) << list.error().message;
    }
}

TEST(WorkloadList, ReadsTheListsOfTheRepository) {
    int files = 0;
    for (const auto &file : std::filesystem::directory_iterator(source_dir() + "/workloads")) {
        if (file.path().extension() != ".json") continue;
        const auto list = read_workload_list(file.path());
        ASSERT_TRUE(list.ok()) << list.error().message;
        files++;
    }
    EXPECT_GE(files, 8);
}

TEST(WorkloadList, Globs) {
    const struct {
        std::string_view pattern, text;
        bool matches;
    } cases[] = {
        {"*", "", true},
        {"*", "resnet50/conv1", true},
        {"", "", true},
        {"", "a", false},
        {"resnet50/*", "resnet50/conv1", true},
        {"*conv1", "resnet50/conv1", true},
        {"res*v1", "resnet50/conv1", true},
        {"res*v1", "resnet50/conv12", false},
        {"*a*b*c*", "xxaxxbxxcxx", true},
        {"*a*b*c", "abcab", false},
        {"conv?", "conv1", true},
        {"conv?", "conv", false},
        {"conv?", "conv12", false},
        {"[ab]", "a", false},
        {"[ab]", "[ab]", true},
        {"**", "ab", true},
        {"a**", "a", true},
    };
    for (const auto &c : cases) EXPECT_EQ(glob_match(c.pattern, c.text), c.matches) << c.pattern << " " << c.text;
    std::string stars;
    for (int i = 0; i < 2000; i++) stars += "*a";
    EXPECT_FALSE(glob_match(stars + "b", std::string(10'000, 'a')));  // in no time
    EXPECT_TRUE(glob_match(stars, std::string(2000, 'a')));
    const std::string as(2000, 'a');
    for (int i = 0; i < 20; i++) EXPECT_FALSE(glob_match("*" + as + "b", std::string(100'000, 'a')));
    EXPECT_TRUE(glob_match("*" + as + "?b*", std::string(100'000, 'a') + "cb"));
}

TEST(WorkloadList, MergesEqualKeys) {
    const Workload a = convolution({1, 8, 8, 4}, {1, 1, 4, 8}), b = convolution({1, 8, 8, 4}, {1, 1, 4, 16});
    const auto merged = merge_equal({{"n", "first", 2, a}, {"n", "other", 1, b}, {"m", "again", 3, a}});
    ASSERT_EQ(merged.size(), 2u);
    EXPECT_EQ(merged[0].name, "first");
    EXPECT_EQ(merged[0].count, 5);
    EXPECT_EQ(merged[1].name, "other");
}

}  // namespace
}  // namespace kiln
