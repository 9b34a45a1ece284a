#include <gtest/gtest.h>

#include "tests/graph/onnx/parsed.h"

namespace kiln::graph::onnx {
namespace {

enum Kind { float_kind = 1, int_kind, string_kind, tensor_kind, graph_kind, floats_kind, ints_kind, strings_kind };

Message attribute(int kind) { return Message().text(1, "a").number(20, kind); }

struct Text {
    std::string operator()(float x) const { return "float " + std::to_string(x); }
    std::string operator()(int64_t x) const { return "int " + std::to_string(x); }
    std::string operator()(const std::string &x) const { return "string " + x; }
    std::string operator()(const Tensor &x) const { return "tensor " + to_text(x.shape); }
    std::string operator()(const std::shared_ptr<const Body> &x) const {
        return "graph of " + std::to_string(x->nodes.size());
    }
    std::string operator()(const Attribute::Unread &x) const { return "unread " + x.kind; }
    template<typename T>
    std::string operator()(const std::vector<T> &list) const {
        std::string text = "list";
        for (const T &x : list) text += "," + (*this)(x);
        return text;
    }
};

TEST(Attribute, EveryKindIsRead) {
    const Message scalar = tensor("", data_type::f32, {}).array<float>(9, {1});
    const struct {
        Message attribute;
        const char *value;
    } rows[] = {
        {attribute(float_kind).decimal(2, 0.5), "float 0.500000"},
        {attribute(float_kind), "float 0.000000"},  // a writer may leave out what is the default
        {attribute(int_kind).number(3, -7), "int -7"},
        {attribute(int_kind), "int 0"},
        {attribute(string_kind).text(4, "SAME_UPPER"), "string SAME_UPPER"},
        {attribute(string_kind), "string "},
        {attribute(tensor_kind).message(5, scalar), "tensor scalar"},
        {attribute(floats_kind).decimal(7, 1).decimal(7, 2), "list,float 1.000000,float 2.000000"},
        {attribute(floats_kind).array<float>(7, {1, 2}), "list,float 1.000000,float 2.000000"},
        {attribute(ints_kind).number(8, 1).number(8, -2), "list,int 1,int -2"},
        {attribute(ints_kind).packed(8, {1, -2}).number(8, 3), "list,int 1,int -2,int 3"},
        {attribute(ints_kind), "list"},
        {attribute(strings_kind).text(9, "a").text(9, ""), "list,string a,string "},
        {Message().text(1, "a").number(3, 4), "int 4"},  // without a kind
        {attribute(graph_kind), "graph of 0"},
        {attribute(graph_kind).message(6, graph({.nodes = {node("m", "Constant", {}, {"p"})}})), "graph of 1"},
        {attribute(10).message(11, Message()), "unread a list of graphs"},
        {attribute(9).message(10, scalar), "unread a list of tensors"},
        {attribute(11).message(22, Message()), "unread a sparse tensor"},
        {attribute(13).message(14, Message()), "unread a type"},
        {attribute(tensor_kind).message(5, tensor("t", data_type::float8, {1})),
         "unread a tensor of type float8e4m3fn"},
        {attribute(int_kind).text(21, "outer"), "unread a reference to an attribute of a function"},
        {attribute(int_kind).number(3, 1).text(13, "what it means").text(77, "later"), "int 1"},
    };
    for (const auto &row : rows) {
        const Result<Model> model = parsed(with_attribute(row.attribute));
        ASSERT_TRUE(model) << row.value << ": " << model.error().message;
        ASSERT_EQ(model->nodes[0].attributes.size(), 1u);
        EXPECT_EQ(model->nodes[0].attributes[0].name, "a");
        EXPECT_EQ(std::visit(Text(), model->nodes[0].attributes[0].value), row.value);
    }
}

TEST(Attribute, WhatIsWrongIsSaidWithNodeAndName) {
    const struct {
        Message attribute;
        const char *message;
    } rows[] = {
        {Message().number(20, int_kind).number(3, 1), "node 'n' (Op): an attribute: has no name"},
        {Message().text(1, "a"), "node 'n' (Op): attribute 'a': has neither a kind nor a value"},
        {attribute(int_kind).decimal(2, 1), "node 'n' (Op): attribute 'a': should be an integer and has a float"},
        {attribute(int_kind).number(8, 1),
         "node 'n' (Op): attribute 'a': should be an integer and has a list of integers"},
        {Message().text(1, "a").number(3, 1).decimal(2, 1),
         "node 'n' (Op): attribute 'a': should be an integer and has a float"},
        {attribute(99), "node 'n' (Op): attribute 'a': is of kind 99, which kiln does not know"},
        {attribute(-1), "node 'n' (Op): attribute 'a': is of kind -1, which kiln does not know"},
        {attribute(int_kind).text(3, "seven"),
         "node 'n' (Op): attribute 'a': has a value that is stored in a way that ONNX does not use"},
        {attribute(tensor_kind).message(5, tensor("t", data_type::f32, {2})),
         "node 'n' (Op): attribute 'a': tensor 't': has 0 elements, but its shape needs 2"},
        {attribute(tensor_kind).message(5, tensor("", data_type::f32, {2})),
         "node 'n' (Op): attribute 'a': a tensor without a name: has 0 elements, but its shape needs 2"},
        {attribute(ints_kind).text(8, "\xff"), "node 'n' (Op): attribute 'a': ends in the middle of a field"},
        {attribute(graph_kind).text(6, "\xff"), "node 'n' (Op): attribute 'a': ends in the middle of a field"},
        {attribute(graph_kind).number(6, 1),
         "node 'n' (Op): attribute 'a': has a value that is stored in a way that ONNX does not use"},
        {attribute(graph_kind).message(6, graph({.nodes = {node("m", "", {}, {"p"})}})),
         "node 'n' (Op): attribute 'a': node 'm': has no operator"},
        {attribute(graph_kind).message(6, graph({.nodes = {node("m", "Relu", {"p"}, {"p"})}})),
         "node 'n' (Op): attribute 'a': nodes need each other's results: node 'm' (Relu) <- node 'm' (Relu)"},
    };
    for (const auto &row : rows) {
        const std::string message = error_of(parsed(with_attribute(row.attribute)));
        EXPECT_TRUE(message.starts_with(row.message)) << row.message << "\n" << message;
    }
}

TEST(Attribute, TwoOfOneNameAreAnError) {
    const Message twice = node("n", "Op", {}, {"y"}).message(5, attribute(int_kind)).message(5, attribute(int_kind));
    EXPECT_EQ(error_of(parsed(model_of(graph({.nodes = {twice}, .outputs = {value("y", 1, {})}})))),
              "node 'n' (Op): has two attributes 'a'");
}

}  // namespace
}  // namespace kiln::graph::onnx
