// Names that two values have, that no value has, or that lead in a circle; nodes in any order.
#include <gtest/gtest.h>

#include "tests/graph/onnx/parsed.h"

namespace kiln::graph::onnx {
namespace {

namespace dt = data_type;

const Message x = value("x", dt::f32, {1});
const Message y = value("y", dt::f32, {1});
const Message w = tensor("w", dt::f32, {1}).array<float>(9, {1});

std::vector<std::string> node_names(const Model &model) {
    std::vector<std::string> names;
    for (const Node &node : model.nodes) names.push_back(node.name);
    return names;
}

TEST(Names, NodesAreBroughtIntoAnOrder) {
    const struct {
        std::vector<Message> nodes;
        std::vector<std::string> order;
    } rows[] = {
        {{node("a", "Relu", {"x"}, {"p"}), node("b", "Relu", {"p"}, {"y"})}, {"a", "b"}},
        {{node("b", "Relu", {"p"}, {"y"}), node("a", "Relu", {"x"}, {"p"})}, {"a", "b"}},
        // What can stay where it is does.
        {{node("c", "Relu", {"x"}, {"q"}), node("b", "Relu", {"p"}, {"y"}), node("a", "Relu", {"x"}, {"p"}),
          node("d", "Relu", {"x"}, {"r"})},
         {"c", "a", "b", "d"}},
        // A value that is used twice, and inputs that are left out.
        {{node("b", "Add", {"p", "p", ""}, {"y"}), node("a", "Relu", {"x", ""}, {"p", ""})}, {"a", "b"}},
    };
    for (const auto &row : rows) {
        const Result<Model> model = parsed(model_of(graph({.nodes = row.nodes, .inputs = {x}, .outputs = {y}})));
        ASSERT_TRUE(model) << model.error().message;
        EXPECT_EQ(node_names(*model), row.order);
    }
}

// A node whose branch reads `read`, and what else a test puts into it.
Message node_with_branch(const std::vector<std::string> &outputs, const Parts &branch) {
    return node("if", "If", {"x"}, outputs)
        .message(5, Message().text(1, "then_branch").number(20, 5).message(6, graph(branch)));
}

TEST(Names, ABranchReadsValuesAroundIt) {
    const Parts reads_p{.nodes = {node("inner", "Add", {"p", "q"}, {"r"}), node("q", "Relu", {"p"}, {"q"})},
                        .outputs = {value("r", dt::f32, {1}), value("s", dt::f32, {1})}};
    const Parts nested{.nodes = {node_with_branch({"z"}, reads_p)}, .outputs = {value("z", dt::f32, {1})}};
    for (const Parts &branch : {reads_p, nested}) {
        const std::vector<Message> nodes = {node_with_branch({"y"}, branch), node("p", "Relu", {"x"}, {"p"}),
                                            node("s", "Relu", {"x"}, {"s"})};
        const Result<Model> model = parsed(model_of(graph({.nodes = nodes, .inputs = {x}, .outputs = {y}})));
        ASSERT_TRUE(model) << model.error().message;
        EXPECT_EQ(node_names(*model), (std::vector<std::string>{"p", "s", "if"}));
        const auto &body = *std::get<std::shared_ptr<const Body>>(model->nodes[2].attributes[0].value);
        EXPECT_EQ(body.outer_names, branch.inputs.empty() && body.nodes.size() == 2
                                        ? (std::vector<std::string>{"p", "s"})
                                        : (std::vector<std::string>{"p", "s", "x"}));
        EXPECT_TRUE(model->outer_names.empty());
    }
}

TEST(Names, WhatABranchReadsMustBeThere) {
    const Parts branch{.nodes = {node("inner", "Relu", {"p"}, {"r"})}, .outputs = {value("r", dt::f32, {1})}};
    const struct {
        Parts parts;
        const char *message;
    } rows[] = {
        {{.nodes = {node_with_branch({"y"}, branch)}, .inputs = {x}, .outputs = {y}},
         "node 'if' (If) takes 'p', which is no input, no initializer and no result of a node: part of the model is "
         "missing"},
        {{.nodes = {node_with_branch({"p"}, branch)}, .inputs = {x}, .outputs = {value("p", dt::f32, {})}},
         "nodes need each other's results: node 'if' (If) <- node 'if' (If)"},
        // What a branch computes is its own.
        {{.nodes = {node_with_branch({"y"}, {.nodes = {node("i", "Relu", {"x"}, {"r"})}}),
                    node("a", "Relu", {"r"}, {"z"})},
          .inputs = {x},
          .outputs = {y}},
         "node 'a' (Relu) takes 'r', which is no input, no initializer and no result of a node: part of the model is "
         "missing"},
    };
    for (const auto &row : rows) EXPECT_EQ(error_of(parsed(model_of(graph(row.parts)))), row.message);
}

Message node_in_branches(int depth) {
    if (depth == 0) return node("inner", "Relu", {"x"}, {"y"});
    return node_with_branch({"y"}, {.nodes = {node_in_branches(depth - 1)}, .outputs = {y}});
}

TEST(Names, BranchesInBranchesHaveAnEnd) {
    const auto read = [](int depth) {
        return parsed(model_of(graph({.nodes = {node_in_branches(depth)}, .inputs = {x}, .outputs = {y}})));
    };
    EXPECT_TRUE(read(32));
    const std::string message = error_of(read(33));
    EXPECT_TRUE(message.ends_with("has graphs in graphs beyond 32, the most that kiln reads")) << message;
}

TEST(Names, AnInitializerMayBeTheDefaultOfAnInput) {
    const Result<Model> model = parsed(model_of(graph({.nodes = {node("a", "Add", {"x", "w"}, {"y"})},
                                                       .initializers = {w},
                                                       .inputs = {x, value("w", dt::f32, {1})},
                                                       .outputs = {y}}),
                                                3));
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->inputs.size(), 2u);
    EXPECT_EQ(model->initializers.size(), 1u);
}

TEST(Names, AnOutputMayBeAnInputOrAnInitializer) {
    const Result<Model> model =
        parsed(model_of(graph({.initializers = {w}, .inputs = {x}, .outputs = {x, value("w", dt::f32, {1})}})));
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->outputs.size(), 2u);
}

TEST(Names, EveryFaultIsListed) {
    const struct {
        Parts parts;
        const char *message;
    } rows[] = {
        {{.nodes = {node("a", "Conv", {"x", "v", "u"}, {"y"})}, .inputs = {x}, .outputs = {y}},
         "node 'a' (Conv) takes 'v', which is no input, no initializer and no result of a node: part of the model is "
         "missing\n"
         "node 'a' (Conv) takes 'u', which is no input, no initializer and no result of a node: part of the model is "
         "missing"},
        {{.nodes = {node("", "Relu", {"x"}, {"p"})}, .inputs = {x}, .outputs = {y, value("z", dt::f32, {})}},
         "the output 'y' is computed by no node\nthe output 'z' is computed by no node"},
        {{.nodes = {node("a", "Relu", {"x"}, {"y"}), node("", "Relu", {"x"}, {"y"})}, .inputs = {x}, .outputs = {y}},
         "node 1 (Relu) computes 'y', which is the name of another value"},
        {{.nodes = {node("a", "Relu", {"x"}, {"y", "y"})}, .inputs = {x}, .outputs = {y}},
         "node 'a' (Relu) computes 'y', which is the name of another value"},
        {{.nodes = {node("a", "Relu", {"x"}, {"x"})}, .inputs = {x}, .outputs = {x}},
         "node 'a' (Relu) computes 'x', which is the name of another value"},
        {{.nodes = {node("a", "Relu", {"x"}, {"w"})}, .initializers = {w}, .inputs = {x}, .outputs = {x}},
         "node 'a' (Relu) computes 'w', which is the name of another value"},
        {{.initializers = {w, w}, .inputs = {x}, .outputs = {x}}, "there are two initializers 'w'"},
        {{.initializers = {w, tensor("w", dt::int4, {})}, .inputs = {x}, .outputs = {x}},
         "there are two initializers 'w'"},
        {{.initializers = {tensor("w", dt::int4, {}), tensor("w", dt::int4, {})}, .inputs = {x}, .outputs = {x}},
         "there are two initializers or inputs 'w'"},
        {{.inputs = {x, x}, .outputs = {x}}, "there are two inputs 'x'"},
        {{.inputs = {x}, .outputs = {x, x}}, "there are two outputs 'x'"},
        {{.inputs = {x}}, "its graph has no outputs"},
        {{.inputs = {value("", dt::f32, {})}, .outputs = {x}}, "an input or output: has no name"},
        {{.nodes = {node("a", "", {"x"}, {"y"})}, .inputs = {x}, .outputs = {y}}, "node 'a': has no operator"},
        {{.nodes = {node("", "", {"x"}, {"y"})}, .inputs = {x}, .outputs = {y}}, "node 0: has no operator"},
        {{.nodes = {node("a", "Relu", {"y"}, {"y"})}, .outputs = {y}},
         "nodes need each other's results: node 'a' (Relu) <- node 'a' (Relu)"},
        {{.nodes = {node("first", "Relu", {"p"}, {"y"}), node("a", "Relu", {"q"}, {"p"}),
                    node("b", "Add", {"x", "p"}, {"q"})},
          .inputs = {x},
          .outputs = {y}},
         "nodes need each other's results: node 'a' (Relu) <- node 'b' (Add) <- node 'a' (Relu)"},
    };
    for (const auto &row : rows) EXPECT_EQ(error_of(parsed(model_of(graph(row.parts)))), row.message);
}

TEST(Names, LongOnesAreRefusedWhereTheyStand) {
    const std::string longest(4096, 'n'), longer(4097, 'n');
    const auto with = [](const std::string &name) {
        return Parts{
            .nodes = {node(name, "Relu", {name}, {"y"})}, .inputs = {value(name, dt::f32, {1})}, .outputs = {y}};
    };
    EXPECT_EQ(error_of(parsed(model_of(graph(with(longest))))), "");
    const struct {
        Message graph;
        const char *place;
    } rows[] = {
        {graph({.nodes = {node(longer, "Relu", {"x"}, {"y"})}, .inputs = {x}, .outputs = {y}}), "node 0: "},
        {graph({.nodes = {node("a", longer, {"x"}, {"y"})}, .inputs = {x}, .outputs = {y}}), "node 'a': "},
        {graph({.nodes = {node("a", "Relu", {longer}, {"y"})}, .inputs = {x}, .outputs = {y}}), "node 0: "},
        {graph({.nodes = {node("a", "Relu", {"x"}, {longer})}, .inputs = {x}, .outputs = {y}}), "node 0: "},
        {graph({.nodes = {node("a", "Op", {"x"}, {"y"}).message(5, Message().text(1, longer).number(3, 1))},
                .inputs = {x},
                .outputs = {y}}),
         "node 'a' (Op): an attribute: "},
        {graph({.initializers = {tensor(longer, dt::f32, {1})}, .outputs = {y}}), "a tensor without a name: "},
        {graph({.inputs = {value(longer, dt::f32, {1})}, .outputs = {y}}), "an input or output: "},
        {graph({.inputs = {x}, .outputs = {y}}).text(2, longer), "a graph: "},
    };
    for (const auto &row : rows) {
        const std::string error = error_of(parsed(model_of(row.graph)));
        EXPECT_TRUE(error.starts_with(row.place + std::string("has a name of 4097 bytes, 'nnnn"))) << error;
        EXPECT_TRUE(error.ends_with("'; the most that kiln reads are 4096")) << error;
    }
}

TEST(Names, ManyFaultsAreCounted) {
    Parts parts{.inputs = {x}, .outputs = {y}};
    for (int i = 0; i < 1000; i++) parts.nodes.push_back(node("", "Relu", {"v"}, {"r" + std::to_string(i)}));
    const std::string message = error_of(parsed(model_of(graph(parts))));
    EXPECT_TRUE(message.ends_with("\nand 981 more")) << message;
}

TEST(Names, LongCirclesAreCut) {
    Parts parts{.outputs = {y}};
    constexpr int count = 20000;
    for (int i = 0; i < count; i++) {
        const std::string from = "r" + std::to_string((i + 1) % count);
        parts.nodes.push_back(node("", "Relu", {from}, {i == 0 ? "r0" : "r" + std::to_string(i)}));
    }
    parts.nodes.push_back(node("", "Relu", {"r5"}, {"y"}));
    const std::string message = error_of(parsed(model_of(graph(parts))));
    EXPECT_TRUE(message.starts_with("nodes need each other's results: node 0 (Relu) <- node 1 (Relu)")) << message;
    EXPECT_TRUE(message.ends_with("... <- node 0 (Relu)")) << message;
}

}  // namespace
}  // namespace kiln::graph::onnx
