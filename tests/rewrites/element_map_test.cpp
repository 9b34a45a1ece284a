#include "rewrites/element_map.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr int a = 0, b = 1;

TEST(ElementMap, FormsAreSumsOfDigits) {
    const Form i = index_form(a), j = index_form(b);
    struct Row {
        Form form;
        std::vector<int64_t> indices;
        int64_t value;
    };
    const Row rows[] = {
        {i, {7, 0}, 7},
        {i * 3 + j + Form{{}, -4}, {7, 2}, 19},
        {digit_of(i, 2), {7, 0}, 3},
        {digit_of(i, 2), {-1, 0}, -1},  // rounded down
        {digit_of(i, 2, 3), {11, 0}, 2},
        {digit_of(i, 1, 3), {-1, 0}, 2},
        {digit_of(i, 3, 0, 2), {7, 0}, 3},
        {digit_of(i, 3, 1, 2), {7, 0}, 0},
        {digit_of(digit_of(i, 2), 3), {13, 0}, 2},         // 13 / 2 / 3
        {digit_of(digit_of(i, 2, 6), 3), {23, 0}, 1},      // 23 / 2 % 6 / 3
        {digit_of(digit_of(i, 1, 12), 2, 3), {23, 0}, 2},  // 23 % 12 / 2 % 3
        {digit_of(digit_of(i, 1, 4), 4), {23, 0}, 0},
        {digit_of(Form{{}, 11}, 2, 3), {0, 0}, 2},
        {put_into(i * 2 + digit_of(j, 3), {j + Form{{}, 1}, i}), {7, 5}, 14},  // (5 + 1) * 2 + 7 / 3
    };
    for (const Row &row : rows) EXPECT_EQ(value_of(row.form, row.indices), row.value) << &row - rows;
}

TEST(ElementMap, KnowsPlainIndices) {
    EXPECT_TRUE(index_form(b).is_index(b));
    EXPECT_TRUE(digit_of(index_form(b), 1).is_index(b));
    EXPECT_FALSE(index_form(b).is_index(a));
    EXPECT_FALSE((index_form(b) * 2).is_index(b));
    EXPECT_FALSE(digit_of(index_form(b), 2).is_index(b));
    EXPECT_TRUE((index_form(a) + digit_of(index_form(b), 2)).depends_on(b));
    EXPECT_FALSE(digit_of(index_form(b), 2, 1).depends_on(b));
}

TEST(ElementMap, LocatesWhatExists) {
    // Position u of an input of 4 with two zeros between neighbours.
    const ElementMap map{{index_form(a) + Form{{}, -1}, 4, 3}};
    struct Row {
        int64_t at;
        std::optional<std::vector<int64_t>> stored;
    };
    const Row rows[] = {{0, std::nullopt}, {1, {{0}}}, {2, std::nullopt}, {4, {{1}}}, {10, {{3}}}, {13, std::nullopt}};
    for (const Row &row : rows) EXPECT_EQ(locate(map, std::vector{row.at}), row.stored) << row.at;
    EXPECT_EQ(locate(put_into(map, {index_form(b) * 3 + Form{{}, 1}}), std::vector<int64_t>{0, 2}),
              std::vector<int64_t>{2});
    EXPECT_EQ(locate({{index_form(a), 0}}, std::vector<int64_t>{0}), std::nullopt);  // of nothing
}

}  // namespace
}  // namespace kiln
