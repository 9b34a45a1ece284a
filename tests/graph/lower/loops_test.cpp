// Loops that are repeated a known number of times.
#include <gtest/gtest.h>

#include <functional>

#include "tests/graph/lower/built_model.h"

namespace kiln::graph {
namespace {

const Numbers yes = whole({}, {1}, Element::boolean), no = whole({}, {0}, Element::boolean);
const std::vector<double> negative{1, -2, 3, -4};

std::vector<double> result(const Graph &graph, std::vector<double> x = {-1, 2, -3, 4}) {
    const auto results = evaluate(graph, {floats({static_cast<int64_t>(x.size())}, x)});
    return std::get<std::vector<double>>(results->front().elements);
}

// The body of a loop: inputs `i`, `on` and what is carried; outputs the condition and what `add_nodes` names.
onnx::Attribute body_of(const std::vector<std::string> &carried, const std::function<void(BuiltModel &)> &add_nodes) {
    BuiltModel body;
    body.input("i", {}, Element::i64).input("on", {}, Element::boolean);
    for (const std::string &name : carried) body.input(name, {});
    add_nodes(body);
    return branch("body", body);
}

TEST(Loops, AreWrittenOut) {
    // Sums of x + i, and each sum on the way.
    const auto sums = [](BuiltModel &body) {
        body.node("Cast", {"i"}, {"f"}, {integer("to", 1)})
            .node("Add", {"x", "f"}, {"p"})
            .node("Add", {"s", "p"}, {"next"});
        body.node("Identity", {"next"}, {"row"}).output("on").output("next").output("row");
    };
    BuiltModel counted_loop;
    counted_loop.input("x", {4}).constant("n", whole({}, {3})).constant("zero", floats({4}, {0, 0, 0, 0}));
    counted_loop.node("Loop", {"n", "", "zero"}, {"last", "all"}, {body_of({"s"}, sums)});
    counted_loop.node("ReduceSum", {"all", "first"}, {"total"}, {integer("keepdims", 0)}).constant("first", list({0}));
    const auto graph = counted_loop.node("Sub", {"last", "total"}, {"y"}).output("y").output("all").lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    // The sums are x, 2x + 1, 3x + 3.
    EXPECT_EQ(result(*graph), (std::vector<double>{2, -7, 8, -13}));
    EXPECT_EQ(to_text(graph->values[graph->outputs[1].value].form.shape), "3x4");

    // As long as 2^k is less than 10; what is carried grows by an element each time.
    BuiltModel conditional;
    conditional.input("x", {1}).constant("one", floats({}, {1})).constant("yes", yes);
    const auto grown = [](BuiltModel &body) {
        body.constant("two", floats({}, {2})).constant("ten", floats({}, {10})).node("Mul", {"k", "two"}, {"twice"});
        body.node("Less", {"twice", "ten"}, {"again"}).node("Concat", {"v", "x"}, {"longer"}, {integer("axis", 0)});
        body.output("again").output("twice").output("longer");
    };
    conditional.node("Loop", {"", "yes", "one", "x"}, {"", "y"}, {body_of({"k", "v"}, grown)});
    const auto longer = conditional.output("y").lowered();
    ASSERT_TRUE(longer) << longer.error().message;
    EXPECT_EQ(result(*longer, {7}), (std::vector<double>{7, 7, 7, 7, 7}));
}

TEST(Loops, MayNotRunAtAll) {
    const auto model = [](int64_t count, const Numbers &condition, const std::vector<std::string> &outputs) {
        BuiltModel built;
        built.input("x", {4}).constant("n", whole({}, {count})).constant("c", condition);
        built.node("Loop", {"n", "c", "x"}, outputs, {body_of({"v"}, [&](BuiltModel &body) {
                       body.node("Neg", {"v"}, {"w"}).output("on").output("w");
                       if (outputs.size() > 1) body.output("i");
                   })});
        return built.output("y");
    };
    const std::vector<double> x{-1, 2, -3, 4};
    for (const auto &[count, condition] :
         {std::pair(int64_t{0}, yes), std::pair(int64_t{5}, no), std::pair(int64_t{-1}, yes)}) {
        const auto graph = model(count, condition, {"y"}).lowered();
        ASSERT_TRUE(graph) << graph.error().message;
        EXPECT_EQ(result(*graph), x);
    }
    EXPECT_EQ(result(*model(1, yes, {"y"}).lowered()), negative);
    const auto shapeless = model(0, yes, {"y", "scan"}).lowered();
    ASSERT_FALSE(shapeless);
    EXPECT_NE(shapeless.error().message.find("it never repeats its graph"), std::string::npos);
}

// Then a scan output has the shape that the graph states for one of its parts.
TEST(Loops, MayStackNothing) {
    const struct {
        onnx::ValueInfo stated;
        std::string shape;  // empty: refused
    } rows[] = {
        {value("i", {Element::i64, {}}), "0"},
        {value("i", {Element::i64, {2, 3}}), "0x2x3"},
        {{"i", Element::i64, {{{std::nullopt, "n"}}}}, ""},
        {{"i", {}, {{}}}, ""},
        {{"i", Element::i64, {}}, ""},
    };
    for (const auto &row : rows) {
        BuiltModel body;
        body.input("i", {}, Element::i64).input("on", {}, Element::boolean).output("on").output("i");
        body.model().outputs.back() = row.stated;
        BuiltModel model;
        model.input("x", {4}).constant("n", whole({}, {0})).node("Relu", {"x"}, {"r"});
        const auto graph =
            model.node("Loop", {"n", ""}, {"y"}, {branch("body", body)}).output("y").output("r").lowered();
        ASSERT_EQ(bool(graph), !row.shape.empty()) << row.shape;
        if (!graph) {
            EXPECT_NE(graph.error().message.find("its graph does not say that of 'i'"), std::string::npos);
            continue;
        }
        const TypedShape &form = graph->values[static_cast<size_t>(graph->outputs[0].value)].form;
        EXPECT_EQ(name(form.type), name(Element::i64));
        EXPECT_EQ(to_text(form.shape), row.shape);
    }
}

TEST(Loops, WhatStandsInTheWayIsNamed) {
    const auto model = [](const std::vector<std::string> &inputs, const std::function<void(BuiltModel &)> &nodes) {
        BuiltModel built;
        built.input("x", {4}).input("n", {}, Element::i64).input("c", {}, Element::boolean);
        built.constant("many", whole({}, {1 << 20})).constant("two", whole({}, {2}));
        built.node("Loop", inputs, {"y"}, {body_of({"v"}, nodes)});
        return built.output("y");
    };
    const auto negates = [](BuiltModel &body) { body.node("Neg", {"v"}, {"w"}).output("on").output("w"); };
    const struct {
        BuiltModel model;
        const char *message;
    } rows[] = {
        {model({"n", "", "x"}, negates), "its input 'M' (value 'n') is known only when the network runs"},
        {model({"two", "c", "x"}, negates), "its condition is known only when the network runs"},
        {model({"many", "", "x"}, negates), "it repeats its graph more than 16384 times"},
        {model({"", "", "x"}, negates), "it repeats its graph more than 16384 times"},
        {model({"two", "", "x", "x"}, negates), "its graph has 3 inputs, and the node gives it 4"},
        {model({"two", "", "x"}, [](BuiltModel &body) { body.output("on"); }),
         "its graph has 1 outputs, and the node needs 2"},
        {model({"two", "", "x"}, [](BuiltModel &body) { body.output("on").output("v").output("i"); }),
         "its graph has 3 outputs, and the node needs 2"},
        {model({"two", "", "x"}, [](BuiltModel &body) { body.node("Odd", {"v"}, {"w"}).output("on").output("w"); }),
         "node 'Odd_0' (Odd): kiln has no operator"},
        {model({"two", "", "x"},
               [](BuiltModel &body) {
                   body.node("ReduceMax", {"v"}, {"m"}, {integer("keepdims", 0)})
                       .node("Cast", {"m"}, {"on2"}, {integer("to", 9)});
                   body.output("on2").output("v");
               }),
         "whether it goes on is known only when the network runs"},
    };
    for (const auto &row : rows) {
        const auto graph = row.model.lowered();
        ASSERT_FALSE(graph) << row.message;
        EXPECT_NE(graph.error().message.find(row.message), std::string::npos) << graph.error().message;
    }
    // Loops in loops multiply, which is said before any is written out.
    const auto nested = [&](BuiltModel &body) {
        body.constant("often", whole({}, {10000}))
            .node(
                "Loop", {"often", "", "v"}, {"w"},
                {body_of({"u"}, [](BuiltModel &inner) { inner.node("Neg", {"u"}, {"t"}).output("on").output("t"); })});
        body.output("on").output("w");
    };
    BuiltModel endless;
    endless.constant("x", counted({1})).constant("often", whole({}, {10000}));
    const auto graph = endless.node("Loop", {"often", "", "x"}, {"y"}, {body_of({"v"}, nested)}).output("y").lowered();
    ASSERT_FALSE(graph);
    EXPECT_NE(graph.error().message.find("repeat more nodes and names than kiln writes out"), std::string::npos)
        << graph.error().message;
    // So do values of a graph that has few nodes.
    const auto many_values = [](BuiltModel &body) {
        for (int i = 0; i < 2000; i++) body.constant("c" + std::to_string(i), yes);
        body.node("Neg", {"v"}, {"w"}).output("on").output("w");
    };
    BuiltModel crowded;
    crowded.constant("x", counted({1})).constant("often", whole({}, {10000}));
    const auto refused =
        crowded.node("Loop", {"often", "", "x"}, {"y"}, {body_of({"v"}, many_values)}).output("y").lowered();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("repeat more nodes and names than kiln writes out"), std::string::npos)
        << refused.error().message;
}

// Repetitions that may not come are not counted beforehand.
TEST(Loops, AreWrittenOutWhereTheyEndEarly) {
    const auto negates = [](BuiltModel &body) { body.node("Neg", {"u"}, {"t"}).output("on").output("t"); };
    const auto repeated = [&](BuiltModel &body, const char *value) {
        body.constant("often", whole({}, {1000})).node("Loop", {"often", "", value}, {"w"}, {body_of({"u"}, negates)});
    };
    // As long as the number is less than 10.
    const auto doubles = [&](BuiltModel &body) {
        repeated(body, "k");
        body.constant("two", floats({}, {2})).constant("ten", floats({}, {10})).node("Mul", {"w", "two"}, {"twice"});
        body.node("Less", {"twice", "ten"}, {"again"}).output("again").output("twice");
    };
    BuiltModel ends;
    ends.input("x", {4}).constant("many", whole({}, {16000})).constant("one", floats({}, {1}));
    ends.node("Loop", {"many", "", "one"}, {"last"}, {body_of({"k"}, doubles)}).node("Add", {"x", "last"}, {"y"});
    const auto ended = ends.output("y").lowered();
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(result(*ended), (std::vector<double>{15, 18, 13, 20}));

    const auto chooses = [&](BuiltModel &body) {
        BuiltModel long_one;
        repeated(long_one, "v");
        body.node("If", {"c"}, {"next"},
                  {branch("then_branch", long_one.output("w")),
                   branch("else_branch", BuiltModel().node("Neg", {"v"}, {"w"}).output("w"))});
        body.output("on").output("next");
    };
    BuiltModel leaves_out;
    leaves_out.input("x", {4}).constant("many", whole({}, {2001})).constant("c", no);
    leaves_out.node("Loop", {"many", "", "x"}, {"y"}, {body_of({"v"}, chooses)});
    const auto chosen = leaves_out.output("y").lowered();
    ASSERT_TRUE(chosen) << chosen.error().message;
    EXPECT_EQ(result(*chosen), negative);
}

}  // namespace
}  // namespace kiln::graph
