#include "graph/graph.h"

#include <gtest/gtest.h>

#include <functional>

namespace kiln::graph {
namespace {

ConstantData zeros(size_t bytes) { return ConstantData(std::vector<std::byte>(bytes)); }

Operator relu(Shape shape) { return Elementwise{apply(Function::maximum, operand(0), constant(0)), std::move(shape)}; }

// x -> a -> y, with a constant, a node and an input that nobody needs.
Graph sample() {
    GraphBuilder builder(Graph{.name = "sample"});
    const ValueId x = builder.input("x", {Element::f32, {1, 2, 4, 4}});
    builder.input("ignored", {Element::i64, {}});
    const ValueId w = builder.constant("w", {Element::f32, {3, 2, 1, 1}}, zeros(24));
    builder.constant("spare", {Element::i64, {2}}, zeros(16));
    Convolution convolution{{2, 2}, {1, 1}, {1, 1}, {{}, {}}, 1, {}};
    const ValueId a = *builder.node(convolution, {x, w}, "a", {"Conv_0"});
    (void)*builder.node(Concat{0}, {a, a}, "dead", {});
    const ValueId y = *builder.node(relu({1, 3, 2, 2}), {a}, "y", {"Relu_1", "Identity_2"});
    builder.output("y", y);
    return std::move(builder).finish();
}

TEST(GraphBuilder, names_are_unique) {
    GraphBuilder builder;
    const TypedShape form{Element::f32, {1}};
    const std::pair<const char *, const char *> rows[] = {
        {"x", "x"}, {"x", "x_2"}, {"x_3", "x_3"}, {"x", "x_4"}, {"", "value"}, {"", "value_2"}, {"x_2", "x_2_2"},
    };
    for (const auto &[wanted, given] : rows) EXPECT_EQ(builder.value(builder.input(wanted, form)).name, given);
    EXPECT_EQ(builder.value(builder.constant("x", form, zeros(4))).name, "x_5");
    EXPECT_EQ(builder.value(*builder.node(relu({1}), {0}, "x", {})).name, "x_6");
    // A graph that was there before keeps its names.
    GraphBuilder more(std::move(builder).finish());
    EXPECT_EQ(more.value(more.input("x_6", form)).name, "x_6_2");
    EXPECT_EQ(more.value(more.input("x", form)).name, "x_7");
}

TEST(GraphBuilder, a_node_that_does_not_fit_leaves_nothing) {
    GraphBuilder builder(sample());
    const Graph before = builder.graph();
    EXPECT_FALSE(builder.node(Transpose{{0}}, {0}, "bad", {}));
    EXPECT_EQ(builder.graph(), before);
}

TEST(Graph, many_equal_names_take_no_time) {
    GraphBuilder builder;
    for (int i = 0; i < 20'000; i++) builder.input("x", {Element::f32, {1}});
    EXPECT_TRUE(validate(builder.graph()));
}

TEST(Graph, what_breaks_one) {
    EXPECT_TRUE(validate(sample())) << validate(sample()).error().message;
    EXPECT_TRUE(validate(Graph{}));
    const std::pair<const char *, std::function<void(Graph *)>> rows[] = {
        {"has no name", [](Graph *g) { g->values[0].name = ""; }},
        {"name of another", [](Graph *g) { g->values[0].name = "y"; }},
        {"negative extent", [](Graph *g) { g->values[0].form.shape[0] = -1; }},
        {"constant of 20 bytes", [](Graph *g) { g->values[2].constant = zeros(20); }},
        {"value 99 does not exist", [](Graph *g) { g->inputs.push_back(99); }},
        {"value 0 `x` is defined twice", [](Graph *g) { g->inputs.push_back(0); }},
        {"value 2 `w` is defined twice", [](Graph *g) { g->inputs.push_back(2); }},
        {"node 0: value -1 does not exist", [](Graph *g) { g->nodes[0].inputs[0] = -1; }},
        {"node 0: value 6 `y` is not known yet", [](Graph *g) { g->nodes[0].inputs[0] = 6; }},
        {"node 0: value 4 `a` is not known yet", [](Graph *g) { g->nodes[0].inputs[0] = 4; }},
        {"is not known yet", [](Graph *g) { std::swap(g->nodes[0], g->nodes[2]); }},
        {"node 2: value 4 `a` is defined twice", [](Graph *g) { g->nodes[2].output = 4; }},
        {"node 0: convolution: ", [](Graph *g) { g->nodes[0].inputs.pop_back(); }},
        {"node 2: value 6 `y` does not have the form f32 1x3x2x2",
         [](Graph *g) {
             g->values[6].form.shape = {3, 2, 2};
         }},
        {"value 5 `dead` is no input", [](Graph *g) { g->nodes.erase(g->nodes.begin() + 1); }},
        {"output `y`: value 7 does not exist", [](Graph *g) { g->outputs[0].value = 7; }},
        {"two outputs `y`",
         [](Graph *g) {
             g->outputs.push_back({"y", 0});
         }},
    };
    for (const auto &[part, change] : rows) {
        Graph graph = sample();
        change(&graph);
        const Status status = validate(graph);
        ASSERT_FALSE(status) << part;
        EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
    }
}

TEST(Graph, outputs_may_be_anything) {
    Graph graph = sample();
    graph.outputs = {{"a", 4}, {"again", 4}, {"input", 0}, {"constant", 2}};
    EXPECT_TRUE(validate(graph));
}

TEST(Graph, dead_values_go) {
    const Graph graph = without_dead_values(sample());
    ASSERT_TRUE(validate(graph)) << validate(graph).error().message;
    std::vector<std::string> names;
    for (const Value &value : graph.values) names.push_back(value.name);
    EXPECT_EQ(names, (std::vector<std::string>{"x", "ignored", "w", "a", "y"}));
    EXPECT_EQ(graph.nodes.size(), 2u);
    EXPECT_EQ(graph.name, "sample");
    EXPECT_EQ(graph.nodes[0].origins, sample().nodes[0].origins);
    EXPECT_EQ(without_dead_values(graph), graph);

    Graph of_constant = sample();
    of_constant.outputs = {{"spare", 3}};
    const Graph rest = without_dead_values(of_constant);
    ASSERT_TRUE(validate(rest));
    EXPECT_EQ(rest.values.size(), 3u);
    EXPECT_TRUE(rest.nodes.empty());
}

TEST(Graph, constants_share_their_bytes) {
    const ConstantData data = zeros(8), copy = data, other = zeros(8), longer = zeros(9);
    EXPECT_EQ(copy.bytes().data(), data.bytes().data());
    EXPECT_EQ(data, other);
    EXPECT_FALSE(data == longer);
    EXPECT_EQ(ConstantData(), zeros(0));
    bool is_closed = false;
    {
        static constexpr std::byte bytes[4]{};
        const std::shared_ptr<const void> file(bytes, [&](const void *) { is_closed = true; });
        ConstantData view(file, bytes);
        const ConstantData kept = view;
        view = ConstantData();
        EXPECT_EQ(kept.bytes().size(), 4u);
        EXPECT_FALSE(is_closed);
    }
    EXPECT_TRUE(is_closed);
}

TEST(Graph, text) {
    EXPECT_EQ(to_text(sample()),
              "network sample\n"
              "  f32 1x2x4x4  x = input\n"
              "  i64 scalar   ignored = input\n"
              "  f32 1x3x2x2  a = convolution(x, w[3x2x1x1]) strides=2x2  <- Conv_0\n"
              "  f32 2x3x2x2  dead = concat(a, a) axis=0\n"
              "  f32 1x3x2x2  y = elementwise(a) max(x0,0)  <- Relu_1, Identity_2\n"
              "  output y = y\n");
    EXPECT_EQ(to_text(Graph{}), "network without a name\n");
}

TEST(Graph, long_names_are_numbers_in_text) {
    GraphBuilder builder;
    const TypedShape form{Element::f32, {2}};
    const std::string folder = "StatefulPartitionedCall/model/";
    const ValueId x = builder.input(folder + "conv2d_1", form);
    const ValueId c = builder.constant(folder + std::string(80, '/') + "w", form, zeros(8));
    const ValueId y = *builder.node(Concat{0}, {x, c}, folder + "concat:0", {folder + "concat", folder + "concat_1"});
    const ValueId z = *builder.node(Reshape{{4}}, {y}, folder + "reshape", {folder + "reshape"});
    builder.output("z", z);
    EXPECT_EQ(to_text(builder.graph()),
              "network without a name\n"
              "  f32 2  %0 = input  # StatefulPartitionedCall/model/conv2d_1\n"
              "  f32 4  %2 = concat(%0, StatefulPartitionedCall/mode...////////////////////////////w[2]) axis=0\n"
              "      <- StatefulPartitionedCall/model/concat, StatefulPartitionedCall/model/concat_1\n"
              "      # StatefulPartitionedCall/model/concat:0\n"
              "  f32 4  %3 = reshape(%2)  <- StatefulPartitionedCall/model/reshape\n"
              "  output z = %3\n");
}

TEST(Graph, text_keeps_lines_whatever_names_hold) {
    Graph graph = sample();
    graph.name = "a network\n";
    graph.values[0].name = "input:0/x;y";
    graph.values[2].name = "a \"w\"\\\x1b[2J,\r\n\x7f";
    graph.values[6].name = "x = f(y)";
    graph.nodes[0].origins = {std::string(1000, 'n'), ""};
    graph.outputs[0].name = "\xc3\xbc\xe2\x80\xae";  // a letter, and what turns the direction of text around
    const std::string text = to_text(graph);
    EXPECT_NE(text.find("network \"a network\\n\"\n"), std::string::npos) << text;
    EXPECT_NE(text.find(" input:0/x;y = input\n"), std::string::npos) << text;
    EXPECT_NE(text.find("convolution(input:0/x;y, \"a \\\"w\\\"\\\\x1b[2J,\\r\\n\\x7f\"[3x2x1x1])"), std::string::npos)
        << text;
    EXPECT_NE(text.find("  output \"\xc3\xbc\\u202e\" = \"x = f(y)\"\n"), std::string::npos) << text;
    for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << int{c};
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = text.find('\n', begin);
        EXPECT_LE(end - begin, 100u) << text.substr(begin, end - begin);
        begin = end + 1;
    }
}

// What Graphviz reads: quotes and backslashes in a string stand behind a backslash, and an `&` begins an entity.
TEST(Graph, graphviz) {
    EXPECT_EQ(to_graphviz(without_dead_values(sample())),
              "digraph \"sample\" {\n"
              "  node [shape=box];\n"
              "  v0 [label=\"x\\nf32 1x2x4x4\", shape=ellipse];\n"
              "  v1 [label=\"ignored\\ni64 scalar\", shape=ellipse];\n"
              "  v3 [label=\"convolution strides=2x2\\nw[3x2x1x1]\\n<- Conv_0\"];\n"
              "  v0 -> v3 [label=\"f32 1x2x4x4\"];\n"
              "  v4 [label=\"elementwise max(x0,0)\\n<- Relu_1\\n<- Identity_2\"];\n"
              "  v3 -> v4 [label=\"f32 1x3x2x2\"];\n"
              "  out0 [label=\"y\", shape=ellipse];\n"
              "  v4 -> out0;\n"
              "}\n");
    Graph graph = sample();
    graph.name = "\"; rank=\\";
    graph.values[0].name = "a&b\"c\\N\n";
    graph.outputs = {{"w", 2}, {"w again", 2}};
    const std::string text = to_graphviz(graph);
    EXPECT_NE(text.find("digraph \"\\\"\\\\\\\"; rank=\\\\\\\"\" {"), std::string::npos) << text;
    EXPECT_NE(text.find("v0 [label=\"\\\"a&amp;b\\\\\\\"c\\\\N\\\\n\\\"\\nf32 1x2x4x4\""), std::string::npos) << text;
    EXPECT_NE(text.find("  v2 [label=\"w\\nf32 3x2x1x1\", shape=note];\n  out0"), std::string::npos) << text;
    EXPECT_NE(text.find("  v2 -> out1;\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace kiln::graph
