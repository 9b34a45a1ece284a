// What becomes of a model as a whole.
#include "graph/lower/lower.h"

#include <gtest/gtest.h>

#include "tests/graph/lower/built_model.h"

namespace kiln::graph {
namespace {

TEST(Lower, NamesAndOriginsAreTheModels) {
    const auto graph = BuiltModel()
                           .input("x", {1, 2, 4, 4})
                           .constant("w", counted({3, 2, 3, 3}))
                           .node("Conv", {"x", "w"}, {"a"})
                           .node("Relu", {"a"}, {"y"})
                           .output("y")
                           .lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_EQ(operators(*graph), "convolution elementwise");
    EXPECT_EQ(graph->values[graph->nodes[0].output].name, "a");
    EXPECT_EQ(graph->nodes[1].origins, std::vector<std::string>{"Relu_1"});
    ASSERT_EQ(graph->outputs.size(), 1);
    EXPECT_EQ(graph->outputs[0].name, "y");
    EXPECT_EQ(graph->values[graph->outputs[0].value].form, (TypedShape{Element::f32, {1, 3, 2, 2}}));
}

TEST(Lower, ShapeArithmeticVanishes) {
    const auto graph = BuiltModel()
                           .input("x", {2, 3, 4, 4})
                           .constant("first", whole({}, {0}))
                           .constant("open", list({-1}))
                           .constant("axis", list({0}))
                           .node("Shape", {"x"}, {"shape"})
                           .node("Gather", {"shape", "first"}, {"n"})
                           .node("Unsqueeze", {"n", "axis"}, {"n_list"})
                           .node("Concat", {"n_list", "open"}, {"to"}, {integer("axis", 0)})
                           .node("Reshape", {"x", "to"}, {"y"})
                           .output("y")
                           .lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(operators(*graph), "reshape");
    EXPECT_EQ(graph->values[graph->outputs[0].value].form.shape, (Shape{2, 48}));
    EXPECT_EQ(graph->values.size(), 2);  // x and y
}

TEST(Lower, OutputsMayBeInputsConstantsAndTheSameValueTwice) {
    const auto graph = BuiltModel()
                           .input("x", {2})
                           .constant("c", counted({3}))
                           .node("Identity", {"x"}, {"y"})
                           .node("Identity", {"c"}, {"z"})
                           .output("y")
                           .output("z")
                           .output("x")
                           .output("c")
                           .lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_TRUE(graph->nodes.empty());
    ASSERT_EQ(graph->outputs.size(), 4);
    EXPECT_EQ(graph->outputs[0], (Output{"y", graph->inputs[0]}));
    EXPECT_EQ(graph->outputs[2], (Output{"x", graph->inputs[0]}));
    EXPECT_EQ(graph->outputs[1].value, graph->outputs[3].value);
    EXPECT_EQ(graph->values[graph->outputs[1].value].name, "c");
}

TEST(Lower, WhatNoOutputNeedsMayBeAnything) {
    const auto graph = BuiltModel()
                           .input("x", {2})
                           .node("Relu", {"x"}, {"y"})
                           .node("NonMaxSuppression", {"x", "x"}, {"boxes"})
                           .node("Sigmoid", {"x"}, {"unused"}, {integer("no_such_attribute", 1)})
                           .output("y")
                           .lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(operators(*graph), "elementwise");
}

}  // namespace
}  // namespace kiln::graph
