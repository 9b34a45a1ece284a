// What stands around the graph, declared inputs and outputs, and models that are in use.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/build_paths.h"
#include "tests/graph/onnx/parsed.h"

namespace kiln::graph::onnx {
namespace {

namespace dt = data_type;
namespace fs = std::filesystem;

const Message identity = graph({.nodes = {node("n", "Identity", {"x"}, {"y"})},
                                .inputs = {value("x", dt::f32, {1})},
                                .outputs = {value("y", dt::f32, {1})}});

Message opset(std::string_view domain, int64_t version) { return Message().text(1, domain).number(2, version); }

TEST(Model, IsReadAsItStands) {
    const Message convolution = node("/stem/conv;1:0", "Conv", {"x", "w", ""}, {"y"}).text(7, "ai.onnx");
    const Message whole = Message()
                              .number(1, 10)
                              .text(2, "a writer")
                              .text(6, "a text")
                              .message(7, graph({.nodes = {convolution},
                                                 .initializers = {tensor("w", dt::f32, {1}).array<float>(9, {3})},
                                                 .inputs = {value("x", dt::f32, {-1, 3, 0})},
                                                 .outputs = {Message().text(1, "y")}}))
                              .message(8, opset("", 20))
                              .message(8, opset("ai.onnx", 20))
                              .message(8, opset("com.microsoft", 1))
                              .message(14, Message().text(1, "key").text(2, "value"))
                              .message(20, Message());  // how it is trained
    const Result<Model> model = parsed(whole);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->ir_version, 10);
    EXPECT_EQ(model->producer, "a writer");
    EXPECT_EQ(model->graph_name, "net");
    EXPECT_EQ(model->opsets, (std::map<std::string, int64_t>{{"", 20}, {"com.microsoft", 1}}));
    ASSERT_EQ(model->nodes.size(), 1u);
    EXPECT_EQ(model->nodes[0].name, "/stem/conv;1:0");
    EXPECT_EQ(model->nodes[0].op_type, "Conv");
    EXPECT_EQ(model->nodes[0].domain, "");
    EXPECT_EQ(model->nodes[0].inputs, (std::vector<std::string>{"x", "w", ""}));
    EXPECT_EQ(model->nodes[0].outputs, std::vector<std::string>{"y"});
    ASSERT_EQ(model->inputs.size(), 1u);
    EXPECT_EQ(model->inputs[0].type, Element::f32);
    const std::vector<Dimension> &shape = *model->inputs[0].shape;
    ASSERT_EQ(shape.size(), 3u);
    EXPECT_EQ(shape[0].size, std::nullopt);
    EXPECT_EQ(shape[0].parameter, "n");
    EXPECT_EQ(shape[1].size, 3);
    EXPECT_EQ(shape[2].size, 0);
    EXPECT_EQ(model->outputs[0].type, std::nullopt);
    EXPECT_FALSE(model->outputs[0].shape);
    EXPECT_TRUE(model->unread.empty());
}

TEST(Model, GraphsInPiecesAreJoined) {  // as protobuf joins a message that comes twice
    const Message first = graph({.nodes = {node("n", "Identity", {"x"}, {"y"})}});
    const Message second = graph({.inputs = {value("x", dt::f32, {1})}, .outputs = {value("y", dt::f32, {1})}});
    const Result<Model> model = parsed(Message().number(1, 8).message(7, first).message(7, second));
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->nodes.size(), 1u);
}

TEST(Model, NegativeExtentsAreOpen) {
    const Message type = Message().number(1, dt::f32).message(2, Message().message(1, Message().number(1, -1)));
    const Message x = Message().text(1, "x").message(2, Message().message(1, type));
    const Result<Model> model = parsed(model_of(graph({.inputs = {x}, .outputs = {x}})));
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->inputs[0].shape->at(0).size, std::nullopt);
}

TEST(Model, InputsOfOtherKindsAreUnread) {
    const struct {
        Message type;
        const char *why;
    } rows[] = {
        {Message().message(1, Message().number(1, dt::float8)), "of type float8e4m3fn"},
        {Message().message(1, Message().number(1, dt::string)), "of type string"},
        {Message().message(4, Message()), "a sequence"},
        {Message().message(5, Message()), "a map"},
        {Message().message(8, Message()), "a sparse tensor"},
        {Message().message(9, Message()), "optional"},
    };
    for (const auto &row : rows) {
        const Message x = Message().text(1, "x").message(2, row.type);
        const Result<Model> model = parsed(model_of(graph({.inputs = {x}, .outputs = {x}})));
        ASSERT_TRUE(model) << model.error().message;
        EXPECT_EQ(model->unread, (std::map<std::string, std::string>{{"x", row.why}}));
        EXPECT_EQ(model->inputs[0].type, std::nullopt);
    }
}

TEST(Model, SparseInitializersAreUnread) {
    const Message sparse = Message().message(1, tensor("w", dt::f32, {1}).array<float>(9, {1})).number(3, 100);
    Message all = graph({.nodes = {node("n", "Relu", {"w"}, {"y"})}, .outputs = {value("y", dt::f32, {})}});
    const Result<Model> model = parsed(model_of(all.message(15, sparse)));
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->unread, (std::map<std::string, std::string>{{"w", "a sparse tensor"}}));
}

TEST(Model, VersionsAreThoseThatKilnReads) {
    for (int64_t version = oldest_ir_version; version <= newest_ir_version; version++) {
        EXPECT_EQ(error_of(parsed(model_of(identity, version))), "");
    }
    EXPECT_TRUE(error_of(parsed(model_of(identity, 2))).starts_with("IR version 2 is too old, kiln reads 3 to 14: "));
    EXPECT_TRUE(error_of(parsed(model_of(identity, 15))).starts_with("IR version 15 is newer than this kiln, "));
    EXPECT_EQ(parsed(model_of(identity, 15)).error().code, ErrorCode::unsupported);
}

TEST(Model, WhatStandsAroundTheGraphIsChecked) {
    const Message function = Message().text(1, "Twice").text(10, "mine");
    const Message call = graph({.nodes = {node("n", "Twice", {"x"}, {"y"}).text(7, "mine")},
                                .inputs = {value("x", dt::f32, {1})},
                                .outputs = {value("y", dt::f32, {1})}});
    const struct {
        Message model;
        const char *message;
    } rows[] = {
        {Message().number(1, 8), "not an ONNX model: it has no IR version or no graph"},
        {Message().message(7, identity).message(8, opset("", 9)),
         "not an ONNX model: it has no IR version or no graph"},
        {model_of(identity).message(8, opset("", 9)), "imports opsets 17 and 9 of the domain ''"},
        {model_of(call).message(25, function),
         "node 'n' (Twice): calls a function of 0 inputs and 0 outputs with 1 and 1"},
        {model_of(identity).message(25, function).message(25, function), "there are two of the function 'Twice'"},
        {model_of(Message()), "its graph has no outputs"},
    };
    for (const auto &row : rows) EXPECT_EQ(error_of(parsed(row.model)), row.message);
    EXPECT_EQ(error_of(parsed(model_of(identity).message(25, function))), "");  // nobody calls it
}

TEST(Model, ModelsInUseAreRead) {
    int count = 0;
    for (const auto &entry : fs::recursive_directory_iterator(source_dir() + "/tests/conformance")) {
        if (entry.path().extension() != ".onnx") continue;
        const Result<Model> model = read_model(entry.path());
        ASSERT_TRUE(model) << model.error().message;
        EXPECT_FALSE(model->nodes.empty()) << entry.path();
        count++;
    }
    EXPECT_GE(count, 8);
}

}  // namespace
}  // namespace kiln::graph::onnx
