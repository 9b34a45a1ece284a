// Branches that a condition chooses.
#include <gtest/gtest.h>

#include "tests/graph/lower/built_model.h"

namespace kiln::graph {
namespace {

const Numbers yes = whole({}, {1}, Element::boolean), no = whole({}, {0}, Element::boolean);

// y = c ? Relu(x) : -x
BuiltModel choice(const std::function<void(BuiltModel &)> &add_condition) {
    BuiltModel model;
    model.input("x", {4});
    add_condition(model);
    model.node("If", {"c"}, {"y"},
               {branch("then_branch", BuiltModel().node("Relu", {"x"}, {"inner"}).output("inner")),
                branch("else_branch", BuiltModel().node("Neg", {"x"}, {"inner"}).output("inner"))});
    return model.output("y");
}

std::vector<double> result(const Graph &graph, std::vector<double> x = {-1, 2, -3, 4}) {
    const auto results = evaluate(graph, {floats({static_cast<int64_t>(x.size())}, x)});
    return std::get<std::vector<double>>(results->front().elements);
}

const std::vector<double> relu{0, 2, 0, 4}, negative{1, -2, 3, -4};

TEST(Branches, AConditionThatIsKnownChooses) {
    const struct {
        std::function<void(BuiltModel &)> condition;
        const std::vector<double> &result;
    } rows[] = {
        {[](BuiltModel &m) { m.constant("c", yes); }, relu},
        {[](BuiltModel &m) { m.constant("c", no); }, negative},
        {[](BuiltModel &m) { m.constant("c", whole({1}, {1}, Element::boolean)); }, relu},
        // As exporters of dynamic shapes ask.
        {[](BuiltModel &m) {
             m.constant("four", list({4})).node("Shape", {"x"}, {"s"}).node("Equal", {"s", "four"}, {"c"});
         },
         relu},
        {[](BuiltModel &m) {
             m.constant("one", list({1})).node("Shape", {"x"}, {"s"}).node("Equal", {"s", "one"}, {"c"});
         },
         negative},
    };
    for (const auto &row : rows) {
        const auto graph = choice(row.condition).lowered();
        ASSERT_TRUE(graph) << graph.error().message;
        EXPECT_EQ(result(*graph), row.result);
        EXPECT_EQ(operators(*graph), "elementwise");
    }
}

// Then both are computed.
TEST(Branches, AConditionThatIsComputedChooses) {
    BuiltModel model;
    model.input("x", {4}).input("big", {64, 64}).constant("zero", floats({}, {0}));
    model.node("ReduceMax", {"big"}, {"m"}, {integer("keepdims", 0)}).node("Greater", {"m", "zero"}, {"c"});
    model.node("If", {"c"}, {"y", "n"},
               {branch("then_branch",
                       BuiltModel().node("Relu", {"x"}, {"p"}).constant("four", list({4})).output("p").output("four")),
                branch("else_branch",
                       BuiltModel().node("Neg", {"x"}, {"p"}).constant("five", list({5})).output("p").output("five"))});
    const auto graph = model.output("y").output("n").lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    for (const double sign : {1.0, -1.0}) {
        std::vector<double> big(64 * 64, sign);
        const auto results = evaluate(*graph, {floats({4}, {-1, 2, -3, 4}), floats({64, 64}, big)});
        ASSERT_TRUE(results) << results.error().message;
        EXPECT_EQ(std::get<0>(results->at(0).elements), sign > 0 ? relu : negative);
        EXPECT_EQ(std::get<1>(results->at(1).elements), (std::vector<int64_t>{sign > 0 ? 4 : 5}));
    }
}

// Few floats are data, too, and no setting that the user could state; but where the branches differ, nothing else is left.
TEST(Branches, AConditionOfFewFloatsChooses) {
    const auto model = [](const BuiltModel &otherwise) {
        BuiltModel built;
        built.input("x", {1, 4}).constant("zero", floats({}, {0})).node("ReduceMax", {"x"}, {"m"});
        built.node("Greater", {"m", "zero"}, {"c"});
        built.node("If", {"c"}, {"y"},
                   {branch("then_branch", BuiltModel().node("Relu", {"x"}, {"p"}).output("p")),
                    branch("else_branch", otherwise)});
        return built.output("y");
    };
    const auto graph = model(BuiltModel().node("Neg", {"x"}, {"p"}).output("p")).lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    const struct { std::vector<double> x, y; } rows[] = {{{-1, 2, -3, 4}, relu}, {{-1, -2, -3, -4}, {1, 2, 3, 4}}};
    for (const auto &row : rows) {
        const auto results = evaluate(*graph, {floats({1, 4}, row.x)});
        ASSERT_TRUE(results) << results.error().message;
        EXPECT_EQ(results->front(), floats({1, 4}, row.y));
    }
    const auto other = model(BuiltModel().node("ReduceSum", {"x"}, {"p"}).output("p")).lowered();
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("output 0 is f32 1x4 in one and f32 1x1 in the other; state what it follows "
                                         "from: --constant 'x'=..."),
              std::string::npos)
        << other.error().message;
}

TEST(Branches, StandInEachOtherAndBearTheSameNames) {
    // Both branches and both nodes compute a value `inner`; the second reads one that the first hides.
    const auto chosen = [](const Numbers &outer, const Numbers &inner) {
        const auto leaf = [](const char *type) { return BuiltModel().node(type, {"p"}, {"inner"}).output("inner"); };
        BuiltModel nested;
        nested.node("Add", {"x", "x"}, {"p"});
        nested.node("If", {"d"}, {"inner"}, {branch("then_branch", leaf("Relu")), branch("else_branch", leaf("Neg"))});
        BuiltModel model;
        model.input("x", {4}).constant("c", outer).constant("d", inner).node("Identity", {"x"}, {"p"});
        model.node("If", {"c"}, {"a"},
                   {branch("then_branch", nested.output("inner")), branch("else_branch", leaf("Abs"))});
        model.node("If", {"c"}, {"b"}, {branch("then_branch", leaf("Neg")), branch("else_branch", leaf("Relu"))});
        return model.node("Add", {"a", "b"}, {"y"}).output("y").lowered();
    };
    const auto both = chosen(yes, yes), first = chosen(yes, no), second = chosen(no, yes);
    ASSERT_TRUE(both && first && second) << both.error().message;
    EXPECT_EQ(result(*both), (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ(result(*first), (std::vector<double>{3, -6, 9, -12}));
    EXPECT_EQ(result(*second), (std::vector<double>{1, 4, 3, 8}));
    EXPECT_TRUE(validate(*both));
}

TEST(Branches, MayGiveSeveralValuesAndThoseAroundThem) {
    BuiltModel model;
    model.input("x", {4}).constant("c", yes);
    const auto values = [](const char *a, const char *b) {
        return BuiltModel().constant("w", counted({4})).node("Mul", {"x", "w"}, {"p"}).output(a).output(b);
    };
    model.node("If", {"c"}, {"a", ""},
               {branch("then_branch", values("p", "w")), branch("else_branch", values("w", "p"))});
    model.node("If", {"c"}, {"", "b"},
               {branch("then_branch", values("p", "x")), branch("else_branch", values("w", "p"))});
    const auto graph = model.node("Sub", {"a", "b"}, {"y"}).output("y").lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(result(*graph), (std::vector<double>{0, 2, -6, 12}));
}

TEST(Branches, WhatIsNotChosenIsNoConcern) {
    // Only the branch that is left out, and a value that only it reads, need an operator that kiln does not have.
    BuiltModel model;
    model.input("x", {4}).constant("c", no).node("Unknown", {"x"}, {"odd"});
    model.node("If", {"c"}, {"y"},
               {branch("then_branch", BuiltModel().node("Unknown", {"odd"}, {"p"}).output("p")),
                branch("else_branch", BuiltModel().node("Neg", {"x"}, {"p"}).output("p"))});
    const auto graph = model.output("y").lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(result(*graph), negative);
}

TEST(Branches, FollowEachOtherWithoutEnd) {
    // Each branch reads what the one before it has computed, and nothing else needs that.
    BuiltModel model;
    model.input("x", {4}).constant("c", yes).node("Identity", {"x"}, {"v0"});
    constexpr int count = 20000;
    for (int i = 1; i <= count; i++) {
        const std::string before = "v" + std::to_string(i - 1);
        model.node("If", {"c"}, {"v" + std::to_string(i)},
                   {branch("then_branch", BuiltModel().node("Neg", {before}, {"p"}).output("p"))});
    }
    const auto graph = model.output("v" + std::to_string(count)).lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(result(*graph), (std::vector<double>{-1, 2, -3, 4}));
}

TEST(Branches, MayGiveOneValueTwice) {
    BuiltModel model;
    model.input("x", {4}).constant("c", yes);
    model.node("If", {"c"}, {"a", "b"},
               {branch("then_branch", BuiltModel().node("Neg", {"x"}, {"p"}).output("p").output("p"))});
    const auto graph = model.node("Add", {"a", "b"}, {"y"}).output("y").lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(result(*graph), (std::vector<double>{2, -4, 6, -8}));
}

TEST(Branches, AFaultIsSaidOnce) {
    BuiltModel model;
    model.input("x", {4}).constant("c", yes).node("Unknown", {"x"}, {"odd"}).output("odd");
    model.node("If", {"c"}, {"y"}, {branch("then_branch", BuiltModel().node("Neg", {"odd"}, {"p"}).output("p"))});
    const auto graph = model.output("y").lowered();
    ASSERT_FALSE(graph);
    EXPECT_EQ(graph.error().message.find('\n'), std::string::npos) << graph.error().message;
}

TEST(Branches, WhatStandsInTheWayIsNamed) {
    const auto leaf = [](const char *type) { return BuiltModel().node(type, {"x"}, {"p"}).output("p"); };
    const auto model = [&](const Numbers &condition, std::vector<onnx::Attribute> branches) {
        BuiltModel built;
        built.input("x", {4}).constant("c", condition).node("If", {"c"}, {"y"}, std::move(branches));
        return built.output("y");
    };
    const auto relu_branches = [&] {
        return std::vector{branch("then_branch", leaf("Relu")), branch("else_branch", leaf("Relu"))};
    };
    BuiltModel rate;
    const auto computed = [&](std::vector<onnx::Attribute> branches) {
        BuiltModel built;
        built.input("x", {4}).input("big", {64, 64}).node("ReduceMax", {"big"}, {"m"}, {integer("keepdims", 0)});
        built.constant("zero", floats({}, {0})).node("Greater", {"m", "zero"}, {"c"});
        built.node("If", {"c"}, {"y"}, std::move(branches));
        return built.output("y");
    };
    const BuiltModel whole_sum = BuiltModel().node("ReduceSum", {"x"}, {"p"}).output("p");
    rate.input("x", {4}).input("rate", {}, Element::i64).constant("fast", whole({}, {16000}));
    rate.node("Equal", {"rate", "fast"}, {"c"}).node("If", {"c"}, {"y"}, relu_branches()).output("y");
    const struct {
        BuiltModel model;
        ErrorCode code;
        const char *message;
    } rows[] = {
        {model(yes, {branch("then_branch", leaf("Unknown")), branch("else_branch", leaf("Relu"))}),
         ErrorCode::unsupported, "node 'Unknown_0' (Unknown): kiln has no operator 'Unknown'"},
        {model(yes, {branch("then_branch", BuiltModel().output("nothing")), branch("else_branch", leaf("Relu"))}),
         ErrorCode::unsupported, "the output 'nothing' is a value, which nothing computes"},
        {model(no, {branch("then_branch", leaf("Relu"))}), ErrorCode::bad_input, "it has no attribute 'else_branch'"},
        {model(yes, {integer("then_branch", 1)}), ErrorCode::bad_input, "its attribute 'then_branch' must be a graph"},
        {model(yes, {branch("then_branch", leaf("Relu").output("x"))}), ErrorCode::bad_input,
         "its graph has 2 outputs, and the node needs 1"},
        {model(yes, {branch("then_branch", leaf("Relu").input("q", {4}))}), ErrorCode::bad_input,
         "its branch has inputs"},
        {model(whole({2}, {1, 1}, Element::boolean), relu_branches()), ErrorCode::bad_input, "must have one element"},
        {model(whole({}, {1}), relu_branches()), ErrorCode::bad_input, "its condition must be bool"},
        {computed({branch("then_branch", leaf("Relu")), branch("else_branch", whole_sum)}), ErrorCode::unsupported,
         "node 'If_2' (If): its condition is known only when the network runs, so that its branches must compute "
         "alike: "
         "output 0 is f32 4 in one and f32 1 in the other"},
        {computed({branch("then_branch", leaf("Relu")), branch("else_branch", leaf("Unknown"))}),
         ErrorCode::unsupported, "kiln has no operator 'Unknown'"},
        {rate, ErrorCode::unsupported, "state what it follows from: --constant 'rate'=..."},
    };
    for (const auto &row : rows) {
        const auto graph = row.model.lowered();
        ASSERT_FALSE(graph) << row.message;
        EXPECT_EQ(graph.error().code, row.code) << graph.error().message;
        EXPECT_NE(graph.error().message.find(row.message), std::string::npos) << graph.error().message;
    }
    EXPECT_TRUE(rate.lowered_with({{"rate", {16000}}}));
}

TEST(Branches, TheNetworkCouldEndInFrontOfThem) {
    BuiltModel model;
    model.input("x", {4}).constant("c", yes).node("Relu", {"x"}, {"front"});
    model.node("If", {"c"}, {"y"}, {branch("then_branch", BuiltModel().node("Unknown", {"front"}, {"p"}).output("p"))});
    const auto graph = model.output("y").lowered();
    ASSERT_FALSE(graph);
    EXPECT_TRUE(graph.error().message.ends_with("can be computed with --outputs front")) << graph.error().message;
}

}  // namespace
}  // namespace kiln::graph
