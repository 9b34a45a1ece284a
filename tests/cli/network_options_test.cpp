#include "cli/network/network_options.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(NetworkOptions, ShapesAreRead) {
    const struct {
        const char *text, *name, *shape;
    } rows[] = {
        {"x=1x3x480x480", "x", "1x3x480x480"},
        {"x=7", "x", "7"},
        {"x=0x4", "x", "0x4"},
        {"x=scalar", "x", "scalar"},
        {"images:0/a=b;c=1x2", "images:0/a=b;c", "1x2"},
        {"an input=2", "an input", "2"},
    };
    for (const auto &row : rows) {
        const Result<graph::InputShape> shape = parse_input_shape(row.text);
        ASSERT_TRUE(shape) << shape.error().message;
        EXPECT_EQ(shape->name, row.name);
        EXPECT_EQ(graph::to_text(shape->shape), row.shape);
    }
}

TEST(NetworkOptions, WhatIsNoShapeIsRefused) {
    const struct {
        const char *text, *why;
    } rows[] = {
        {"", "has no name and shape"},      {"x", "has no name and shape"},
        {"=1x3", "has no name and shape"},  {"x=", "`` is no extent"},
        {"x=1x", "`` is no extent"},        {"x=1xx3", "`` is no extent"},
        {"x=1,3", "`1,3` is no extent"},    {"x=1x-3", "`-3` is no extent"},
        {"x=1x3.5", "`3.5` is no extent"},  {"x=1X3", "`1X3` is no extent"},
        {"x=NxCx4", "`N` is no extent"},    {"x=1x99999999999999999999", "`99999999999999999999` is no extent"},
        {"x=+1", "`+1` is no extent"},      {"x= 1", "` 1` is no extent"},
        {"x=1\n2", "`1\\n2` is no extent"}, {"x=4294967296x4294967296x4294967296", "--shape x=4294967296x"},
    };
    for (const auto &row : rows) {
        const Result<graph::InputShape> shape = parse_input_shape(row.text);
        ASSERT_FALSE(shape) << row.text;
        EXPECT_EQ(shape.error().code, ErrorCode::usage);
        EXPECT_NE(shape.error().message.find(row.why), std::string::npos) << shape.error().message;
        EXPECT_TRUE(shape.error().message.ends_with("; write NAME=1x3x480x480, or NAME=scalar"));
    }
}

TEST(NetworkOptions, ConstantsAreRead) {
    const struct {
        const char *text, *name;
        std::vector<double> elements;
    } rows[] = {
        {"rate=16000", "rate", {16000}},
        {"x=1,-2.5,3e2", "x", {1, -2.5, 300}},
        {"a=b=0", "a=b", {0}},
    };
    for (const auto &row : rows) {
        const Result<graph::InputConstant> constant = parse_input_constant(row.text);
        ASSERT_TRUE(constant) << constant.error().message;
        EXPECT_EQ(constant->name, row.name);
        EXPECT_EQ(constant->elements, row.elements);
    }
}

TEST(NetworkOptions, WhatIsNoConstantIsRefused) {
    const struct {
        const char *text, *why;
    } rows[] = {
        {"", "has no name and value"},    {"x", "has no name and value"},     {"=1", "has no name and value"},
        {"x=", "`` is no finite number"}, {"x=1,", "`` is no finite number"}, {"x=1x3", "`1x3` is no finite number"},
        {"x=inf", "`inf` is no finite"},  {"x=nan", "`nan` is no finite"},    {"x=1e999", "`1e999` is no finite"},
        {"x= 1", "` 1` is no finite"},    {"x=true", "`true` is no finite"},  {"x=1\n2", "`1\\n2` is no finite"},
    };
    for (const auto &row : rows) {
        const Result<graph::InputConstant> constant = parse_input_constant(row.text);
        ASSERT_FALSE(constant) << row.text;
        EXPECT_EQ(constant.error().code, ErrorCode::usage);
        EXPECT_NE(constant.error().message.find(row.why), std::string::npos) << constant.error().message;
        EXPECT_TRUE(constant.error().message.ends_with("; write NAME=16000, or NAME=1,2,3"));
    }
}

TEST(NetworkOptions, OutputsAreChosen) {
    graph::onnx::Model model;
    model.inputs = {{"x", graph::Element::f32, {}}};
    model.nodes = {{"a", "Relu", "", {"x"}, {"y"}, {}}, {"b", "Split", "", {"y"}, {"z", ""}, {}}};
    model.outputs = {{"z", {}, {}}};
    const struct {
        std::vector<std::string> names;
        const char *problem;  // empty: none
    } rows[] = {
        {{}, ""},
        {{"y"}, ""},
        {{"z", "x"}, ""},
        {{"w"}, "no node of the model computes `w`"},
        {{""}, "no node of the model computes ``"},
        {{"y", "z", "y"}, "`y` is named twice"},
    };
    for (const auto &row : rows) {
        graph::onnx::Model chosen = model;
        const Status status = choose_outputs(row.names, &chosen);
        if (*row.problem) {
            ASSERT_FALSE(status);
            EXPECT_EQ(status.error().code, ErrorCode::usage);
            EXPECT_NE(status.error().message.find(row.problem), std::string::npos) << status.error().message;
            continue;
        }
        ASSERT_TRUE(status) << status.error().message;
        std::vector<std::string> got;
        for (const graph::onnx::ValueInfo &output : chosen.outputs) got.push_back(output.name);
        EXPECT_EQ(got, row.names.empty() ? std::vector<std::string>{"z"} : row.names);
    }
}

}  // namespace
}  // namespace kiln
