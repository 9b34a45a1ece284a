// The table of fields: each of them is in the key, in JSON and in the descriptor, and means something there.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "package/kernel_descriptor.h"
#include "workload/lists/workload_list.h"
#include "workload/workload_fields.h"

namespace kiln {
namespace {

// A workload without the field and the same with it, in keys and in JSON.
struct Example {
    const char *without, *with, *json_without, *json_with;
};

constexpr const char *conv = "conv2d/input:2x8x8x16/kernel:3x3x16x32";
constexpr const char *conv_json = R"("op": "conv2d", "input": [2, 8, 8, 16], "kernel": [3, 3, 16, 32])";
constexpr const char *quantized =
    "conv2d/input:2x8x8x16/kernel:3x3x16x32/dtype:i8/output_dtype:u8/epilogue:requantize_onnx";
constexpr const char *quantized_json =
    R"("op": "conv2d", "input": [2, 8, 8, 16], "kernel": [3, 3, 16, 32], "dtype": "i8", "output_dtype": "u8",
       "epilogue": ["requantize_onnx"])";
constexpr const char *image = "winograd_input_transform/input:1x8x8x16/window:3x3/tile:4x4";
constexpr const char *image_json =
    R"("op": "winograd_input_transform", "input": [1, 8, 8, 16], "window": [3, 3], "tile": [4, 4])";
constexpr const char *output = "winograd_output_transform/input:1x8x8x16/window:3x3/tile:4x4";
constexpr const char *output_json =
    R"("op": "winograd_output_transform", "input": [1, 8, 8, 16], "window": [3, 3], "tile": [4, 4])";

constexpr const char *nest =
    "nest/loops:4x8/over:3/operands:4x3,8/reduction:sum/reads:x0[i0,r0];x1[i1]/term:mul(x0,x1)";
constexpr const char *nest_json =
    R"("op": "nest", "loops": [4, 8], "over": [3], "operands": [[4, 3], [8]], "reduction": "sum", )"
    R"json("reads": "x0[i0,r0];x1[i1]", "term": "mul(x0,x1)")json";

// `with` as an addition at the end of the example's other text; a field that nobody may leave out has two values.
const std::map<std::string_view, Example> &examples() {
    static const std::map<std::string_view, Example> table = {
        {"input",
         {conv, "conv2d/input:2x8x9x16/kernel:3x3x16x32", conv_json,
          R"("op": "conv2d", "input": [2, 8, 9, 16], "kernel": [3, 3, 16, 32])"}},
        {"kernel",
         {conv, "conv2d/input:2x8x8x16/kernel:3x1x16x32", conv_json,
          R"("op": "conv2d", "input": [2, 8, 8, 16], "kernel": [3, 1, 16, 32])"}},
        {"strides", {conv, "/strides:2x1", conv_json, R"(, "strides": [2, 1])"}},
        {"padding", {conv, "/padding:1,0x0,-1", conv_json, R"(, "padding": [[1, 0], [0, -1]])"}},
        {"lhs_dilation", {conv, "/lhs_dilation:2x1", conv_json, R"(, "lhs_dilation": [2, 1])"}},
        {"rhs_dilation", {conv, "/rhs_dilation:1x2", conv_json, R"(, "rhs_dilation": [1, 2])"}},
        {"feature_group_count",
         {"conv2d/input:2x8x8x32/kernel:3x3x32x32", "conv2d/input:2x8x8x32/kernel:3x3x16x32/feature_group_count:2",
          R"("op": "conv2d", "input": [2, 8, 8, 32], "kernel": [3, 3, 32, 32])",
          R"("op": "conv2d", "input": [2, 8, 8, 32], "kernel": [3, 3, 16, 32], "feature_group_count": 2)"}},
        {"batch_group_count", {conv, "/batch_group_count:2", conv_json, R"(, "batch_group_count": 2)"}},
        {"dtype", {conv, "/dtype:f16", conv_json, R"(, "dtype": "f16")"}},
        {"output_dtype", {conv, "/output_dtype:bf16", conv_json, R"(, "output_dtype": "bf16")"}},
        {"input_layout", {conv, "/input_layout:NCHW8c", conv_json, R"(, "input_layout": "NCHW8c")"}},
        {"output_layout", {conv, "/output_layout:NCHW", conv_json, R"(, "output_layout": "NCHW")"}},
        {"kernel_layout", {conv, "/kernel_layout:HWOI", conv_json, R"(, "kernel_layout": "HWOI")"}},
        {"epilogue", {conv, "/epilogue:bias,clamp:-1:6", conv_json, R"(, "epilogue": ["bias", {"clamp": [-1, 6]}])"}},
        {"prologue", {conv, "/prologue:scale,clamp:-1:6", conv_json, R"(, "prologue": ["scale", {"clamp": [-1, 6]}])"}},
        {"depthwise",
         {"conv2d/input:2x8x8x16/kernel:1x1x16x32", "/depthwise:3x2",
          R"("op": "conv2d", "input": [2, 8, 8, 16], "kernel": [1, 1, 16, 32])", R"(, "depthwise": [3, 2])"}},
        {"kernel_dtype", {quantized, "/kernel_dtype:u8", quantized_json, R"(, "kernel_dtype": "u8")"}},
        {"kernel_zero_point", {quantized, "/kernel_zero_point:true", quantized_json, R"(, "kernel_zero_point": true)"}},
        {"operand_dtypes",
         {nest, "nest/loops:4x8/operands:4,8/operand_dtypes:f32,i8/reads:x0[i0];x1[i1]/term:mul(x0,f32(x1))", nest_json,
          R"json("op": "nest", "loops": [4, 8], "operands": [[4], [8]], "operand_dtypes": ["f32", "i8"], )json"
          R"json("reads": "x0[i0];x1[i1]", "term": "mul(x0,f32(x1))")json"}},
        {"special_values", {conv, "/special_values:exact", conv_json, R"(, "special_values": "exact")"}},
        {"block",
         {"space_to_depth/input:1x8x8x16/block:2x2", "space_to_depth/input:1x8x8x16/block:4x2",
          R"("op": "space_to_depth", "input": [1, 8, 8, 16], "block": 2)",
          R"("op": "space_to_depth", "input": [1, 8, 8, 16], "block": [4, 2])"}},
        {"from_layout",
         {"layout_transform/input:1x8x8x16/from_layout:NHWC/to_layout:NCHW",
          "layout_transform/input:1x8x8x16/from_layout:CHWN/to_layout:NCHW",
          R"("op": "layout_transform", "input": [1, 8, 8, 16], "from_layout": "NHWC", "to_layout": "NCHW")",
          R"("op": "layout_transform", "input": [1, 8, 8, 16], "from_layout": "CHWN", "to_layout": "NCHW")"}},
        {"to_layout",
         {"layout_transform/input:1x8x8x16/from_layout:NHWC/to_layout:NCHW",
          "layout_transform/input:1x8x8x16/from_layout:NHWC/to_layout:NCHW8c",
          R"("op": "layout_transform", "input": [1, 8, 8, 16], "from_layout": "NHWC", "to_layout": "NCHW")",
          R"("op": "layout_transform", "input": [1, 8, 8, 16], "from_layout": "NHWC", "to_layout": "NCHW8c")"}},
        {"window",
         {image, "winograd_input_transform/input:1x8x8x16/window:5x3/tile:4x4", image_json,
          R"("op": "winograd_input_transform", "input": [1, 8, 8, 16], "window": [5, 3], "tile": [4, 4])"}},
        {"tile",
         {image, "winograd_input_transform/input:1x8x8x16/window:3x3/tile:2x4", image_json,
          R"("op": "winograd_input_transform", "input": [1, 8, 8, 16], "window": [3, 3], "tile": [2, 4])"}},
        {"points", {image, "/points:1", image_json, R"(, "points": 1)"}},
        {"tile_dimensions", {image, "/tile_dimensions:3x0", image_json, R"(, "tile_dimensions": [3, 0])"}},
        {"batch", {image, "/batch:false", image_json, R"(, "batch": false)"}},
        {"output", {output, "/output:32x31", output_json, R"(, "output": [32, 31])"}},
        {"loops",
         {nest, "nest/loops:3x8/over:3/operands:4x3,8/reduction:sum/reads:x0[i0,r0];x1[i1]/term:mul(x0,x1)", nest_json,
          R"json("op": "nest", "loops": [3, 8], "over": [3], "operands": [[4, 3], [8]], "reduction": "sum", "reads": "x0[i0,r0];x1[i1]", "term": "mul(x0,x1)")json"}},
        {"over",
         {nest, "nest/loops:4x8/over:2/operands:4x3,8/reduction:sum/reads:x0[i0,r0];x1[i1]/term:mul(x0,x1)", nest_json,
          R"json("op": "nest", "loops": [4, 8], "over": [2], "operands": [[4, 3], [8]], "reduction": "sum", "reads": "x0[i0,r0];x1[i1]", "term": "mul(x0,x1)")json"}},
        {"operands",
         {nest, "nest/loops:4x8/over:3/operands:5x3,8/reduction:sum/reads:x0[i0,r0];x1[i1]/term:mul(x0,x1)", nest_json,
          R"json("op": "nest", "loops": [4, 8], "over": [3], "operands": [[5, 3], [8]], "reduction": "sum", "reads": "x0[i0,r0];x1[i1]", "term": "mul(x0,x1)")json"}},
        {"reduction",
         {nest, "nest/loops:4x8/over:3/operands:4x3,8/reduction:mean/reads:x0[i0,r0];x1[i1]/term:mul(x0,x1)", nest_json,
          R"json("op": "nest", "loops": [4, 8], "over": [3], "operands": [[4, 3], [8]], "reduction": "mean", "reads": "x0[i0,r0];x1[i1]", "term": "mul(x0,x1)")json"}},
        {"reads",
         {nest, "nest/loops:4x8/over:3/operands:4x3,8/reduction:sum/reads:x0[i0,r0];x1[-i1+7]/term:mul(x0,x1)",
          nest_json,
          R"json("op": "nest", "loops": [4, 8], "over": [3], "operands": [[4, 3], [8]], "reduction": "sum", "reads": "x0[i0,r0];x1[-i1+7]", "term": "mul(x0,x1)")json"}},
        {"term",
         {nest, "nest/loops:4x8/over:3/operands:4x3,8/reduction:sum/reads:x0[i0,r0];x1[i1]/term:add(x0,x1)", nest_json,
          R"json("op": "nest", "loops": [4, 8], "over": [3], "operands": [[4, 3], [8]], "reduction": "sum", "reads": "x0[i0,r0];x1[i1]", "term": "add(x0,x1)")json"}},
        {"finish", {nest, "/finish:max(x2,0)", nest_json, R"json(, "finish": "max(x2,0)")json"}},
    };
    return table;
}

std::string appended(std::string_view to, std::string_view text) {
    return (text[0] == '/' || text[0] == ',' ? std::string(to) : std::string()) + std::string(text);
}

Result<Workload> from_json(const std::string &fields) {
    const auto list = parse_workload_list(
        R"({"format": "workloads/1", "name": "l", "workloads": [{"name": "e", )" + fields + "}]}", "list.json");
    if (!list) return list.error();
    return list->front().workload;
}

std::string bytes(const Workload &w) {
    const auto descriptor = descriptor_of(w);
    EXPECT_TRUE(descriptor) << key(w);
    return {reinterpret_cast<const char *>(&*descriptor), sizeof *descriptor};
}

TEST(FieldTable, EveryFieldIsInKeyJsonAndDescriptor) {
    EXPECT_EQ(examples().size(), workload_fields().size()) << "an example of a field that is not in the table";
    for (const WorkloadField &field : workload_fields()) {
        const auto found = examples().find(field.name);
        ASSERT_NE(found, examples().end()) << field.name << " has no example; add one";
        const Example &e = found->second;
        const std::string text = appended(e.without, e.with);
        const auto without = parse_workload_key(e.without), with = parse_workload_key(text);
        ASSERT_TRUE(without) << without.error().message;
        ASSERT_TRUE(with) << with.error().message;
        EXPECT_TRUE(field.is_used_by(with->op)) << field.name;
        EXPECT_NE(*without, *with) << field.name;
        EXPECT_EQ(key(*with), text);
        EXPECT_NE(text.find("/" + std::string(field.name) + ":"), std::string::npos) << text;

        const auto read_without = from_json(e.json_without), read = from_json(appended(e.json_without, e.json_with));
        ASSERT_TRUE(read_without) << read_without.error().message;
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(*read_without, *without) << field.name;
        EXPECT_EQ(*read, *with) << field.name;

        EXPECT_NE(bytes(*without), bytes(*with)) << field.name << " is lost in the descriptor";
    }
}

// What an operation has no use for is refused in all forms, by name.
TEST(FieldTable, OtherOperationsRefuseAField) {
    const struct {
        const char *json, *message;
    } rows[] = {
        {R"("op": "space_to_depth", "input": [1, 8, 8, 16], "block": 2, "strides": [2, 2])",
         "strides: has no meaning for space_to_depth"},
        {R"("op": "conv2d_backprop_input", "input": [1, 8, 8, 16], "kernel": [3, 3, 16, 32], "epilogue": ["relu"])",
         "epilogue: has no meaning for conv2d_backprop_input"},
        {R"("op": "conv2d", "input": [1, 8, 8, 16], "kernel": [3, 3, 16, 32], "tile": [2, 2])",
         "tile: has no meaning for conv2d"},
    };
    for (const auto &row : rows) {
        const auto read = from_json(row.json);
        ASSERT_FALSE(read) << row.message;
        EXPECT_NE(read.error().message.find(row.message), std::string::npos) << read.error().message;
    }
    const auto parsed = parse_workload_key("conv2d_backprop_kernel/input:1x8x8x16/kernel:3x3x16x32/epilogue:bias");
    ASSERT_FALSE(parsed);
    EXPECT_NE(parsed.error().message.find("epilogue has no meaning for conv2d_backprop_kernel"), std::string::npos)
        << parsed.error().message;
}

// Equal bounds are one workload to kiln_find, whatever the sign of a zero.
TEST(FieldTable, TheSignOfAZeroBoundIsNotPartOfTheDescriptor) {
    Workload w = convolution({1, 8, 8, 16}, {3, 3, 16, 32}), negative = w;
    w.epilogue = {{EpilogueStep::Kind::clamp, 0.0f, 0.0f}};
    negative.epilogue = {{EpilogueStep::Kind::clamp, -0.0f, -0.0f}};
    EXPECT_EQ(bytes(w), bytes(negative));
}

// A number of a step counts in a descriptor where the step has it.
TEST(FieldTable, NumbersOfEpilogueStepsAreInTheDescriptor) {
    for (const EpilogueForm &form : epilogue_forms()) {
        Workload w = convolution({1, 8, 8, 16}, {3, 3, 16, 32}), lo = w, hi = w;
        w.epilogue = {{form.kind, 0.25f, 0.5f}};
        lo.epilogue = {{form.kind, 0.125f, 0.5f}};
        hi.epilogue = {{form.kind, 0.25f, 0.75f}};
        EXPECT_EQ(bytes(w) != bytes(lo), form.number_count() > 0) << form.name;
        EXPECT_EQ(bytes(w) != bytes(hi), form.number_count() > 1) << form.name;
    }
}

}  // namespace
}  // namespace kiln
