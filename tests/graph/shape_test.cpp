#include "graph/shape.h"

#include <gtest/gtest.h>

namespace kiln::graph {
namespace {

constexpr int64_t huge = int64_t{1} << 62;

TEST(Shape, element_count) {
    struct Row {
        Shape shape;
        int64_t count;
    };
    const Row rows[] = {
        {{}, 1},
        {{7}, 7},
        {{2, 3, 4}, 24},
        {{2, 0, 4}, 0},
        {{most_elements}, most_elements},
        {{most_elements, 1, 1}, most_elements},
        {{most_elements, 0}, 0},
        {Shape(most_axes, 1), 1},
    };
    for (const Row &row : rows) {
        const auto count = element_count(row.shape);
        ASSERT_TRUE(count) << to_text(row.shape) << ": " << count.error().message;
        EXPECT_EQ(*count, row.count) << to_text(row.shape);
    }
}

TEST(Shape, sizes_that_cannot_be) {
    const Shape rows[] = {
        {-1},
        {3, -2, 4},
        {-1, 0},
        {most_elements + 1},
        {most_elements, 2},
        {1 << 21, 1 << 20},
        {huge, huge},
        {0, huge},
        {huge, 0},
        {0, most_elements, 2},
        {INT64_MIN},
        {INT64_MAX, INT64_MAX, INT64_MAX},
        Shape(most_axes + 1, 1),
        Shape(1'000'000, 1),
    };
    for (const Shape &shape : rows) EXPECT_FALSE(element_count(shape)) << to_text(shape);
}

TEST(Shape, broadcast) {
    struct Row {
        Shape a, b, result;
    };
    const Row rows[] = {
        {{}, {}, {}},
        {{}, {2, 3}, {2, 3}},
        {{3}, {2, 3}, {2, 3}},
        {{2, 1}, {1, 3}, {2, 3}},
        {{2, 1, 4}, {3, 1}, {2, 3, 4}},
        {{0}, {1}, {0}},
        {{2, 1}, {2, 0}, {2, 0}},
        {{1, 1, 1}, {}, {1, 1, 1}},
    };
    for (const Row &row : rows) {
        for (const auto &[a, b] : {std::pair{row.a, row.b}, {row.b, row.a}}) {
            const auto result = broadcast(a, b);
            ASSERT_TRUE(result) << to_text(a) << " " << to_text(b);
            EXPECT_EQ(*result, row.result) << to_text(a) << " " << to_text(b);
        }
    }
}

TEST(Shape, what_cannot_be_broadcast) {
    const std::pair<Shape, Shape> rows[] = {
        {{2}, {3}}, {{2, 3}, {2}}, {{0}, {2}}, {{4, 2, 3}, {3, 1, 3}}, {{1 << 21, 1}, {1, 1 << 20}},
    };
    for (const auto &[a, b] : rows) {
        EXPECT_FALSE(broadcast(a, b)) << to_text(a) << " " << to_text(b);
        EXPECT_FALSE(broadcast(b, a)) << to_text(a) << " " << to_text(b);
    }
}

TEST(Shape, text) {
    EXPECT_EQ(to_text(Shape{}), "scalar");
    EXPECT_EQ(to_text(Shape{1, 3, 224, 224}), "1x3x224x224");
    EXPECT_EQ(to_text(Shape{0}), "0");
    EXPECT_LT(to_text(Shape(1'000'000, 1)).size(), 200u);
}

}  // namespace
}  // namespace kiln::graph
