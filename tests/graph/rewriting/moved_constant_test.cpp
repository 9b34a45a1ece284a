// Constants that are moved at once have the elements that the operators would give them.
#include "graph/rewriting/moved_constant.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include "graph/evaluate/evaluate.h"

namespace kiln::graph {
namespace {

TEST(MovedConstant, is_what_the_operator_computes) {
    struct Row {
        Element type;
        Shape shape;
        Operator op;
    };
    const Row rows[] = {
        {Element::f32, {67, 45}, Transpose{{1, 0}}},
        {Element::f32, {2, 3, 4, 5}, Transpose{{2, 3, 0, 1}}},
        {Element::f32, {2, 3, 4, 5}, Transpose{{0, 2, 3, 1}}},
        {Element::f32, {2, 3, 4, 5}, Transpose{{3, 1, 0, 2}}},
        {Element::i64, {7, 5}, Transpose{{1, 0}}},
        {Element::i8, {3, 4, 5}, Transpose{{1, 2, 0}}},
        {Element::f32, {3, 4}, Transpose{{0, 1}}},
        {Element::f32, {0, 4}, Transpose{{1, 0}}},
        {Element::f32, {}, Transpose{{}}},
        {Element::f32, {3, 4}, Reshape{{2, 6}}},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(to_text(row.op) + " of " + to_text(row.shape));
        Numbers numbers{{row.type, row.shape}, {}};
        const auto count = static_cast<size_t>(*element_count(row.shape));
        if (is_float(row.type)) {
            numbers.elements = std::vector<double>(count);
        } else {
            numbers.elements = std::vector<int64_t>(count);
        }
        std::visit([](auto &elements) { std::iota(elements.begin(), elements.end(), 0); }, numbers.elements);
        const auto expected = evaluate(row.op, {&numbers});
        ASSERT_TRUE(expected) << expected.error().message;
        const auto moved = moved_constant(row.op, {"", numbers.form, to_constant(numbers)});
        ASSERT_TRUE(moved);
        EXPECT_EQ(*moved, to_constant(*expected));
    }
    EXPECT_FALSE(moved_constant(Concat{0}, {"", {Element::f32, {0}}, ConstantData()}));
}

}  // namespace
}  // namespace kiln::graph
