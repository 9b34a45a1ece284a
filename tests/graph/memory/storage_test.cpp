// Which results are bytes of their inputs, in row-major and other orders.
#include "graph/memory/storage.h"

#include <gtest/gtest.h>

#include <optional>

namespace kiln::graph {
namespace {

struct Form {
    TypedShape form;
    Storage storage;
    Stored stored() const { return {&form, &storage}; }
};

Form in_order(const Shape &shape, std::vector<int> axes) {
    return {{Element::f32, shape}, {*element_count(shape) * 4, {std::move(axes)}}};
}

// Blocks of axis 1, whose elements are innermost.
Form in_blocks(const Shape &shape, int64_t block) {
    Form form = in_order(shape, row_major_order(shape.size()).axes);
    form.storage.order.axes.push_back(1);
    form.storage.order.block = block;
    return form;
}

Form row_major(const Shape &shape) {
    std::vector<int> order;
    for (size_t i = 0; i < shape.size(); i++) order.push_back(static_cast<int>(i));
    return in_order(shape, order);
}

Form channels_last(const Shape &shape) { return in_order(shape, {0, 2, 3, 1}); }

TEST(Storage, keeps_bytes) {
    struct Row {
        const char *what;
        Operator op;
        Form input, result;
        bool expected;
    };
    const Row rows[] = {
        {"any reshape in row-major order", Reshape{{4, 6}}, row_major({2, 3, 4}), row_major({4, 6}), true},
        {"a transpose", Transpose{{1, 0}}, row_major({2, 3}), row_major({3, 2}), false},
        {"a transpose of axes of one element", Transpose{{1, 0, 2}}, row_major({1, 2, 3}), row_major({2, 1, 3}), true},
        {"a transpose into the order that memory has", Transpose{{0, 2, 3, 1}}, channels_last({2, 3, 4, 5}),
         row_major({2, 4, 5, 3}), true},
        {"a transpose out of it", Transpose{{0, 3, 1, 2}}, row_major({2, 4, 5, 3}), channels_last({2, 3, 4, 5}), true},
        {"a transpose into another", Transpose{{0, 3, 1, 2}}, row_major({2, 4, 5, 3}), row_major({2, 3, 4, 5}), false},
        {"pixels joined, channels last", Reshape{{2, 3, 20}}, channels_last({2, 3, 4, 5}),
         in_order({2, 3, 20}, {0, 2, 1}), true},
        {"pixels joined, then row-major", Reshape{{2, 3, 20}}, channels_last({2, 3, 4, 5}), row_major({2, 3, 20}),
         false},
        {"one pixel is row-major in any order", Reshape{{2, 3}}, channels_last({2, 3, 1, 1}), row_major({2, 3}), true},
        {"channels joined with pixels", Reshape{{60}}, channels_last({1, 3, 4, 5}), row_major({60}), false},
        {"channels cut, channels last", Reshape{{1, 2, 3, 4}}, in_order({1, 6, 4}, {0, 2, 1}),
         in_order({1, 2, 3, 4}, {0, 3, 1, 2}), true},
        {"channels cut and their parts swapped", Reshape{{1, 2, 3, 4}}, in_order({1, 6, 4}, {0, 2, 1}),
         in_order({1, 2, 3, 4}, {0, 3, 2, 1}), false},
        {"extents that do not divide each other", Reshape{{3, 2}}, in_order({2, 3}, {1, 0}), in_order({3, 2}, {1, 0}),
         false},
        {"blocks that are all of their axis", Transpose{{0, 2, 3, 1}}, in_blocks({2, 8, 4, 5}, 8),
         row_major({2, 4, 5, 8}), true},
        {"blocks that are parts of their axis", Transpose{{0, 2, 3, 1}}, in_blocks({2, 16, 4, 5}, 8),
         row_major({2, 4, 5, 16}), false},
        {"a transpose out of the order of blocks", Transpose{{0, 1, 3, 4, 2}}, row_major({1, 2, 8, 4, 5}),
         row_major({1, 2, 4, 5, 8}), false},
        {"blocks of one pixel", Reshape{{2, 16}}, in_blocks({2, 16, 1, 1}, 8), row_major({2, 16}), true},
        {"an axis cut into its blocks", Reshape{{2, 2, 8, 4, 5}}, in_blocks({2, 16, 4, 5}, 8),
         in_order({2, 2, 8, 4, 5}, {0, 1, 3, 4, 2}), true},
        {"an axis cut elsewhere", Reshape{{2, 4, 4, 4, 5}}, in_blocks({2, 16, 4, 5}, 8),
         in_order({2, 4, 4, 4, 5}, {0, 1, 3, 4, 2}), false},
        {"pixels joined, in blocks", Reshape{{2, 16, 20}}, in_blocks({2, 16, 4, 5}, 8), in_blocks({2, 16, 20}, 8),
         true},
        {"blocks of another size", Reshape{{2, 16, 4, 5}}, in_blocks({2, 16, 4, 5}, 8), in_blocks({2, 16, 4, 5}, 4),
         false},
        {"nothing at all", Reshape{{0, 3}}, in_order({3, 0}, {1, 0}), row_major({0, 3}), true},
        {"another operator", Resample{}, row_major({6}), row_major({6}), false},
    };
    for (const Row &row : rows) {
        EXPECT_EQ(keeps_bytes(row.op, row.input.stored(), row.result.stored()), row.expected) << row.what;
    }
}

TEST(Storage, parts) {
    const auto slice = [](int axis, std::vector<int64_t> indices) {
        return Operator(Resample{{{.axis = axis, .taps = 1, .indices = std::move(indices), .weights = {}}}, 0});
    };
    const auto offset = [](const Operator &op, const Form &input, const Form &result) {
        return offset_of_part(op, input.stored(), result.stored());
    };
    EXPECT_EQ(offset(slice(0, {1, 2}), row_major({4, 3}), row_major({2, 3})), 12);
    EXPECT_EQ(offset(slice(1, {2}), row_major({1, 4, 3}), row_major({1, 1, 3})), 24);
    EXPECT_EQ(offset(slice(1, {0, 1}), row_major({2, 4}), row_major({2, 2})), std::nullopt);
    EXPECT_EQ(offset(slice(0, {2, 1}), row_major({4, 3}), row_major({2, 3})), std::nullopt);
    EXPECT_EQ(offset(slice(0, {Resample::outside, 0}), row_major({4, 3}), row_major({2, 3})), std::nullopt);
    EXPECT_EQ(offset(slice(2, {1, 2}), channels_last({1, 3, 4, 5}), channels_last({1, 3, 2, 5})), 60);
    EXPECT_EQ(offset(slice(1, {1, 2}), channels_last({1, 3, 4, 5}), channels_last({1, 2, 4, 5})), std::nullopt);
    EXPECT_EQ(offset(slice(0, {1}), row_major({4, 3}), row_major({1, 3})), 12);
    const Form blocks = in_blocks({1, 24, 4, 5}, 8);
    const std::vector<int64_t> second{8, 9, 10, 11, 12, 13, 14, 15}, across{4, 5, 6, 7, 8, 9, 10, 11};
    EXPECT_EQ(offset(slice(1, second), blocks, in_blocks({1, 8, 4, 5}, 8)), 8 * 4 * 5 * 4);
    EXPECT_EQ(offset(slice(1, second), blocks, channels_last({1, 8, 4, 5})), 8 * 4 * 5 * 4);
    EXPECT_EQ(offset(slice(1, second), blocks, row_major({1, 8, 4, 5})), std::nullopt);
    EXPECT_EQ(offset(slice(1, across), blocks, in_blocks({1, 8, 4, 5}, 8)), std::nullopt);
    EXPECT_EQ(offset(slice(1, {8}), blocks, row_major({1, 1, 4, 5})), std::nullopt);
    EXPECT_EQ(offset(slice(1, second), in_blocks({2, 24, 4, 5}, 8), in_blocks({2, 8, 4, 5}, 8)), std::nullopt);
}

TEST(Storage, joins) {
    const auto joins = [](int axis, const std::vector<Form> &inputs, const Form &result) {
        std::vector<Stored> stored;
        for (const Form &form : inputs) stored.push_back(form.stored());
        return joins_bytes(Concat{axis}, stored, result.stored());
    };
    EXPECT_TRUE(joins(0, {row_major({2, 3}), row_major({1, 3})}, row_major({3, 3})));
    EXPECT_TRUE(joins(1, {row_major({1, 2, 3}), row_major({1, 4, 3})}, row_major({1, 6, 3})));
    EXPECT_FALSE(joins(1, {row_major({2, 2}), row_major({2, 4})}, row_major({2, 6})));
    EXPECT_FALSE(joins(1, {channels_last({1, 2, 4, 5}), channels_last({1, 1, 4, 5})}, channels_last({1, 3, 4, 5})));
    EXPECT_TRUE(joins(2, {channels_last({1, 2, 4, 5}), channels_last({1, 2, 1, 5})}, channels_last({1, 2, 5, 5})));
    EXPECT_FALSE(joins(2, {channels_last({1, 2, 4, 5}), row_major({1, 2, 1, 5})}, channels_last({1, 2, 5, 5})));
    const Form two = in_blocks({1, 16, 4, 5}, 8), three = in_blocks({1, 24, 4, 5}, 8);
    EXPECT_TRUE(joins(1, {two, in_blocks({1, 8, 4, 5}, 8)}, three));
    EXPECT_TRUE(joins(1, {two, channels_last({1, 8, 4, 5})}, three));
    EXPECT_FALSE(joins(1, {two, row_major({1, 8, 4, 5})}, three));
    EXPECT_FALSE(joins(1, {channels_last({1, 16, 4, 5}), channels_last({1, 8, 4, 5})}, three));
    EXPECT_FALSE(joins(2, {two, two}, in_blocks({1, 16, 8, 5}, 8)));
}

}  // namespace
}  // namespace kiln::graph
