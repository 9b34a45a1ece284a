// CumSum, CumProd, Trilu, OneHot and EyeLike.
#include <algorithm>

#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

TEST(Triangles, OnesAndZeros) {
    const Numbers x = counted({2, 3});
    const auto axis = [](int64_t number) { return whole({}, {number}); };
    std::vector<double> third_of_300(300);
    third_of_300[2] = 1;
    const std::vector<RuleCase> rows{
        {"CumSum", 14, {}, {x, axis(1)}, {floats({2, 3}, {1, 3, 6, 4, 9, 15})}},
        {"CumSum", 14, {}, {x, axis(-2)}, {floats({2, 3}, {1, 2, 3, 5, 7, 9})}},
        {"CumSum", 11, {integer("exclusive", 1)}, {x, axis(1)}, {floats({2, 3}, {0, 1, 3, 0, 4, 9})}},
        {"CumSum", 14, {integer("reverse", 1)}, {x, axis(1)}, {floats({2, 3}, {6, 5, 3, 15, 11, 6})}},
        {"CumSum",
         14,
         {integer("reverse", 1), integer("exclusive", 1)},
         {x, axis(1)},
         {floats({2, 3}, {5, 3, 0, 11, 6, 0})}},
        {"CumSum", 14, {}, {counted({2, 2, 2}), axis(1)}, {floats({2, 2, 2}, {1, 2, 4, 6, 5, 6, 12, 14})}},
        {"CumSum", 14, {}, {whole({3}, {1, -2, 3}), axis(0)}, {whole({3}, {1, -1, 2})}},
        {"CumSum", 14, {}, {whole({2, 3}, {1, -2, 3, 4, 5, 6}), axis(0)}, {whole({2, 3}, {1, -2, 3, 5, 3, 9})}},
        {"CumSum",
         14,
         {},
         {whole({4}, {9007199254740993, -9007199254740995, -3000000000, 1}), axis(0)},
         {whole({4}, {9007199254740993, -2, -3000000002, -3000000001})}},
        {"CumSum",
         14,
         {integer("exclusive", 1)},
         {whole({2, 3}, {1, -2, 3, 4, 5, 6}), axis(1)},
         {whole({2, 3}, {0, 1, -1, 0, 4, 9})}},
        {"CumSum",
         14,
         {integer("reverse", 1)},
         {whole({2, 3}, {1, -2, 3, 4, 5, 6}), axis(1)},
         {whole({2, 3}, {2, 1, 3, 15, 11, 6})}},
        {"CumSum",
         14,
         {integer("exclusive", 1), integer("reverse", 1)},
         {whole({2, 3}, {1, -2, 3, 4, 5, 6}), axis(1)},
         {whole({2, 3}, {1, 3, 0, 11, 6, 0})}},
        {"CumSum", 14, {}, {floats({2, 1}, {4, 5}), axis(1)}, {floats({2, 1}, {4, 5})}},
        {"CumSum", 14, {integer("exclusive", 1)}, {floats({2, 1}, {4, 5}), axis(1)}, {floats({2, 1}, {0, 0})}},
        {"CumSum", 14, {}, {floats({2, 0}, {}), axis(1)}, {floats({2, 0}, {})}},
        // What is infinite or no number changes the sums that it is in, and no others.
        {"CumSum",
         14,
         {},
         {floats({2, 4}, {1, infinity, 2, 3, -infinity, 1, infinity, 2}), axis(1)},
         {floats({2, 4}, {1, infinity, infinity, infinity, -infinity, -infinity, nan, nan})}},
        {"CumSum",
         14,
         {integer("reverse", 1), integer("exclusive", 1)},
         {line({1, 2, nan, 4, 5}), axis(0)},
         {line({nan, nan, 9, 5, 0})}},
        {"CumSum", 14, {}, {line(std::vector<double>(5000, 1)), axis(0)}, {counted({5000})}},
        {"CumProd", 26, {}, {x, axis(1)}, {floats({2, 3}, {1, 2, 6, 4, 20, 120})}},
        {"CumProd", 26, {}, {x, axis(-2)}, {floats({2, 3}, {1, 2, 3, 4, 10, 18})}},
        {"CumProd", 26, {integer("exclusive", 1)}, {x, axis(1)}, {floats({2, 3}, {1, 1, 2, 1, 4, 20})}},
        {"CumProd", 26, {integer("reverse", 1)}, {x, axis(1)}, {floats({2, 3}, {6, 6, 3, 120, 30, 6})}},
        {"CumProd",
         26,
         {integer("reverse", 1), integer("exclusive", 1)},
         {x, axis(1)},
         {floats({2, 3}, {6, 3, 1, 30, 6, 1})}},
        {"CumProd",
         26,
         {integer("exclusive", 1)},
         {whole({4}, {2, -3, 0, 5}, Element::i32), axis(0)},
         {whole({4}, {1, 2, -6, 0}, Element::i32)}},
        {"CumProd", 26, {}, {line({2, infinity, 3, nan, 1}), axis(0)}, {line({2, infinity, infinity, nan, nan})}},
        {"Trilu", 14, {}, {counted({3, 3})}, {floats({3, 3}, {1, 2, 3, 0, 5, 6, 0, 0, 9})}},
        {"Trilu", 14, {integer("upper", 0)}, {counted({1, 2, 3})}, {floats({1, 2, 3}, {1, 0, 0, 4, 5, 0})}},
        {"Trilu", 14, {}, {counted({2, 3}), axis(1)}, {floats({2, 3}, {0, 2, 3, 0, 0, 6})}},
        {"Trilu", 14, {integer("upper", 0)}, {counted({3, 2}), axis(-1)}, {floats({3, 2}, {0, 0, 3, 0, 5, 6})}},
        // All of it, and nothing of it.
        {"Trilu", 14, {}, {counted({2, 3}), axis(-1)}, {counted({2, 3})}},
        {"Trilu", 14, {}, {counted({2, 3}), axis(3)}, {floats({2, 3}, {0, 0, 0, 0, 0, 0})}},
        {"Trilu", 14, {}, {counted({2, 3}), axis(10)}, {floats({2, 3}, {0, 0, 0, 0, 0, 0})}},
        {"Trilu", 14, {integer("upper", 0)}, {counted({2, 3}), axis(2)}, {counted({2, 3})}},
        {"Trilu",
         14,
         {integer("upper", 0)},
         {whole({2, 3}, {1, 2, 3, 4, 5, 6}), axis(-2)},
         {whole({2, 3}, {0, 0, 0, 0, 0, 0})}},
        // What is not kept need not be a number.
        {"Trilu", 14, {}, {floats({2, 2}, {1, 2, nan, infinity})}, {floats({2, 2}, {1, 2, 0, infinity})}},
        {"OneHot", 11, {}, {list({2, -3, 5}), list({3}), line({0, 1})}, {floats({3, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 0})}},
        {"OneHot",
         11,
         {integer("axis", 0)},
         {whole({1}, {2}, Element::u8), list({300}), line({0, 1})},
         {floats({300, 1}, third_of_300)}},
        {"OneHot",
         11,
         {integer("axis", 0)},
         {line({1, 0}), whole({}, {2}), whole({2}, {7, 9}, Element::i32)},
         {whole({2, 2}, {7, 9, 9, 7}, Element::i32)}},
        {"EyeLike", 9, {integer("k", 1)}, {counted({2, 3})}, {floats({2, 3}, {0, 1, 0, 0, 0, 1})}},
        {"EyeLike", 9, {integer("dtype", 7)}, {counted({2, 2})}, {whole({2, 2}, {1, 0, 0, 1})}},
    };
    for (const RuleCase &row : rows) expect_outputs(row);
}

TEST(Triangles, Refused) {
    const std::vector<std::pair<RuleCase, std::string>> rows{
        {{"CumSum", 14, {}, {counted({2, 3}), whole({}, {2})}, {}}, "axis 2 does not exist"},
        {{"Trilu", 14, {}, {counted({3})}, {}}, "has no rows and columns"},
        {{"OneHot", 11, {}, {list({1}), list({0}), line({0, 1})}, {}}, "its depth is 0"},
        {{"OneHot", 11, {}, {list({1}), line({1e30f}), line({0, 1})}, {}}, "its depth is no number up to"},
        {{"OneHot", 11, {}, {list({1}), line({nan}), line({0, 1})}, {}}, "its depth is no number up to"},
        {{"EyeLike", 9, {}, {counted({2, 2, 2})}, {}}, "is no matrix"},
    };
    for (auto [row, message] : rows) {
        row.outputs = {counted({1})};
        const auto graph = model_of(row).lowered();
        ASSERT_FALSE(graph) << message;
        EXPECT_NE(graph.error().message.find(message), std::string::npos) << graph.error().message;
    }
}

// Of patterns that do not fit no number is made.
TEST(Triangles, PatternsFindRoomFirst) {
    const auto message = [](BuiltModel model) {
        const auto graph = model.output("y").lowered({}, {.all_elements = 100});
        return graph ? "" : graph.error().message;
    };
    const auto one_hot = [&](int64_t depth) {
        BuiltModel model;
        model.input("i", {2}, Element::i32).constant("depth", list({depth})).constant("values", line({0, 1}));
        return message(model.node("OneHot", {"i", "depth", "values"}, {"y"}));
    };
    const auto triangle = [&](int64_t extent, int64_t k) {
        BuiltModel model;
        model.input("x", {extent, extent}).constant("k", whole({}, {k}));
        return message(model.node("Trilu", {"x", "k"}, {"y"}));
    };
    const std::string reason = "the model lists more constants than kiln computes beforehand";
    EXPECT_EQ(one_hot(100), "");
    EXPECT_EQ(triangle(10, 0), "");
    for (const std::string &refusal : {one_hot(101), triangle(11, 0), triangle(11, 20)})
        EXPECT_NE(refusal.find(reason), std::string::npos) << refusal;
}

// No constant of a number for each pair of elements, and no list without end.
TEST(Triangles, CumulativeSumsOfLongAxes) {
    const auto of = [](int64_t extent) {
        return BuiltModel()
            .input("x", {extent})
            .constant("axis", whole({}, {0}))
            .node("CumSum", {"x", "axis"}, {"y"})
            .output("y")
            .lowered();
    };
    const auto graph = of(1 << 12);
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(std::ranges::count_if(graph->values, [](const Value &v) { return v.constant.has_value(); }), 0);
    EXPECT_EQ(std::ranges::count_if(graph->nodes, [](const Node &n) { return name(n.op) == "elementwise"; }), 12);
    const auto endless = of(int64_t{1} << 36);
    ASSERT_FALSE(endless);
    EXPECT_NE(endless.error().message.find(" places, which is too many"), std::string::npos) << endless.error().message;
}

}  // namespace
}  // namespace kiln::graph
