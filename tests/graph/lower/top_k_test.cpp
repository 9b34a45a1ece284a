// TopK.
#include <algorithm>
#include <numeric>
#include <random>

#include "tests/graph/lower/rule_cases.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

Numbers wide(Shape shape, std::vector<int64_t> elements) { return whole(std::move(shape), std::move(elements)); }

TEST(TopK, FirstElementsAndWhereTheyAre) {
    const Numbers two = floats({2, 4}, {3, 1, 4, 1, 5, 9, 2, 6});
    const std::vector<RuleCase> cases{
        {"TopK", 11, {}, {two, list({2})}, {floats({2, 2}, {4, 3, 9, 6}), wide({2, 2}, {2, 0, 1, 3})}},
        {"TopK",
         11,
         {integer("largest", 0)},
         {two, list({3})},
         {floats({2, 3}, {1, 1, 3, 2, 5, 6}), wide({2, 3}, {1, 3, 0, 2, 0, 3})}},
        {"TopK",
         11,
         {integer("axis", 0)},
         {two, list({1})},
         {floats({1, 4}, {5, 9, 4, 6}), wide({1, 4}, {1, 1, 0, 1})}},
        {"TopK",
         10,
         {integer("axis", -2)},
         {two, list({2})},
         {floats({2, 4}, {5, 9, 4, 6, 3, 1, 2, 1}), wide({2, 4}, {1, 1, 0, 1, 0, 0, 1, 0})}},
        {"TopK", 1, {integer("k", 1)}, {two}, {floats({2, 1}, {4, 9}), wide({2, 1}, {2, 1})}},
        // Equal ones stay in their order, which does not depend on `sorted`.
        {"TopK",
         11,
         {integer("sorted", 0)},
         {line({0, 7, 0, 7, 7}), list({4})},
         {line({7, 7, 7, 0}), wide({4}, {1, 3, 4, 0})}},
        {"TopK",
         11,
         {},
         {line({-infinity, 0, infinity}), list({3})},
         {line({infinity, 0, -infinity}), wide({3}, {2, 1, 0})}},
        {"TopK",
         11,
         {},
         {whole({3}, {-128, 127, 0}, Element::i8), list({2})},
         {whole({2}, {127, 0}, Element::i8), wide({2}, {1, 2})}},
        {"TopK", 11, {}, {line({1, 2}), list({0})}, {floats({0}, {}), wide({0}, {})}},
    };
    for (const RuleCase &row : cases) expect_outputs(row);
}

// A NaN comes last, in its order among those that are infinite.
TEST(TopK, RowsWithNaN) {
    const Numbers rows = floats({3, 4}, {3, nan, 1, 0, nan, nan, nan, nan, infinity, nan, -infinity, nan});
    const std::vector<RuleCase> cases{
        {"TopK",
         11,
         {integer("largest", 0)},
         {rows, list({2})},
         {floats({3, 2}, {0, 1, nan, nan, -infinity, infinity}), wide({3, 2}, {3, 2, 0, 1, 2, 0})}},
        {"TopK",
         11,
         {},
         {rows, list({4})},
         {floats({3, 4}, {3, 1, 0, nan, nan, nan, nan, nan, infinity, nan, -infinity, nan}),
          wide({3, 4}, {0, 2, 3, 1, 0, 1, 2, 3, 0, 1, 2, 3})}},
    };
    for (const RuleCase &row : cases) expect_outputs(row);
}

// So many that parts of them are compared first; few values, so that many are equal.
TEST(TopK, ManyElements) {
    std::mt19937 random(test_seed());
    for (const auto &[count, k, largest] :
         {std::tuple<int, int, bool>{3000, 10, true}, {2000, 33, false}, {1111, 1, true}}) {
        std::vector<double> elements(static_cast<size_t>(2 * count));
        for (double &element : elements) element = static_cast<double>(random() % 500);
        std::vector<double> values;
        std::vector<int64_t> indices;
        for (int row = 0; row < 2; row++) {
            const double *of_row = elements.data() + row * count;
            std::vector<int64_t> order(static_cast<size_t>(count));
            std::iota(order.begin(), order.end(), 0);
            std::ranges::stable_sort(
                order, [&](int64_t a, int64_t b) { return largest ? of_row[a] > of_row[b] : of_row[a] < of_row[b]; });
            for (int i = 0; i < k; i++) {
                indices.push_back(order[static_cast<size_t>(i)]);
                values.push_back(of_row[indices.back()]);
            }
        }
        const Shape shape{2, k};
        expect_outputs({"TopK",
                        11,
                        {integer("largest", largest)},
                        {floats({2, count}, elements), list({k})},
                        {floats(shape, values), wide(shape, indices)}});
    }
}

TEST(TopK, Refused) {
    struct Bad {
        RuleCase node;
        std::string message;
    };
    const std::vector<Bad> rows{
        {{"TopK", 11, {}, {line({1, 2}), list({3})}, {}}, "it asks for 3 elements along an axis of 2"},
        {{"TopK", 11, {}, {line({1, 2}), list({-1})}, {}}, "it asks for -1 elements"},
        {{"TopK", 1, {}, {line({1, 2})}, {}}, "it asks for -1 elements"},
        {{"TopK", 11, {}, {whole({2}, {0, 1}, Element::boolean), list({1})}, {}}, "it compares booleans"},
        {{"TopK", 11, {}, {counted({1, 40000}), list({30000})}, {}}, "comparisons"},
    };
    for (const Bad &bad : rows) {
        RuleCase node = bad.node;
        node.outputs = {counted({1}), counted({1})};
        const auto graph = model_of(node).lowered();
        ASSERT_FALSE(graph) << bad.message;
        EXPECT_NE(graph.error().message.find(bad.message), std::string::npos) << graph.error().message;
    }
}

}  // namespace
}  // namespace kiln::graph
