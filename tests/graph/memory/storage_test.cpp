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

Form in_order(const Shape &shape, std::vector<int> order) {
    return {{Element::f32, shape}, {*element_count(shape) * 4, std::move(order)}};
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
        {"a blocked value", Reshape{{6}}, in_order({2, 3}, {}), row_major({6}), false},
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
    EXPECT_EQ(offset(slice(0, {1}), row_major({4, 3}), in_order({1, 3}, {})), std::nullopt);
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
}

}  // namespace
}  // namespace kiln::graph
