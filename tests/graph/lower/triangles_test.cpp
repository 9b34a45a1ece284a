// CumSum, Trilu, OneHot and EyeLike.
#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

const std::optional<Numbers> none;

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
        {{"CumSum", 14, {}, {counted({2, 5000}), whole({}, {1})}, {}}, "it adds up 5000 elements of an axis"},
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

}  // namespace
}  // namespace kiln::graph
