#include <gtest/gtest.h>

#include "graph/evaluate/functions.h"
#include "tests/graph/evaluate/numbers_of.h"

namespace kiln::graph {
namespace {

using F = Function;

TEST(ElementwiseLoops, functions_of_a_float) {
    struct Row {
        F function;
        double argument, result;
    };
    const Row rows[] = {
        {F::absolute, -2.5, 2.5},
        {F::negate, 3, -3},
        {F::sign, -7, -1},
        {F::sign, 0, 0},
        {F::sign, nan, nan},
        {F::reciprocal, 4, 0.25},
        {F::reciprocal, 0, infinity},
        {F::square_root, 9, 3},
        {F::square_root, -1, nan},
        {F::exponential, 0, 1},
        {F::exponential, 1000, infinity},
        {F::logarithm, 1, 0},
        {F::logarithm, 0, -infinity},
        {F::logarithm_1p, 1e-20, 1e-20},
        {F::sine, 1, std::sin(1.0)},
        {F::cosine, 0, 1},
        {F::tangent_hyperbolic, 100, 1},
        {F::error_function, infinity, 1},
        {F::sigmoid, 0, 0.5},
        {F::sigmoid, -1e6, 0},
        {F::sigmoid, 1e6, 1},
        {F::floor, -0.5, -1},
        {F::ceil, 0.5, 1},
        {F::round, 2.5, 2},
        {F::round, -3.5, -4},
        {F::error_function, 0.5, 0.5204998778130465},
    };
    for (const Row &row : rows) {
        expect_result(Elementwise{apply(row.function, operand(0)), {}}, {floats({}, {row.argument})},
                      floats({}, {row.result}));
    }
    const Numbers special = floats({4}, {nan, infinity, -infinity, 1});
    expect_result(Elementwise{apply(F::is_nan, operand(0)), {4}}, {special},
                  integers({4}, {1, 0, 0, 0}, Element::boolean));
    expect_result(Elementwise{apply(F::is_infinite, operand(0)), {4}}, {special},
                  integers({4}, {0, 1, 1, 0}, Element::boolean));
}

TEST(ElementwiseLoops, functions_of_two_floats) {
    struct Row {
        F function;
        double a, b, result;
    };
    const Row rows[] = {
        {F::add, 1, 2, 3},           {F::subtract, 1, 2, -1},       {F::multiply, 3, -2, -6},
        {F::divide, 1, 4, 0.25},     {F::divide, -1, 0, -infinity}, {F::divide, 0, 0, nan},
        {F::remainder, 5.5, 2, 1.5}, {F::remainder, -5.5, 2, 0.5},  {F::remainder, 5.5, -2, -0.5},
        {F::remainder, -4, 2, 0},    {F::remainder, 1, 0, nan},     {F::power, 2, 0.5, std::sqrt(2.0)},
        {F::power, 0, 0, 1},         {F::power, -8, 1. / 3, nan},   {F::minimum, 1, 2, 1},
        {F::minimum, nan, 2, nan},   {F::minimum, 2, nan, nan},     {F::maximum, 1, 2, 2},
        {F::maximum, nan, 2, nan},   {F::maximum, 2, nan, nan},
    };
    for (const Row &row : rows) {
        expect_result(Elementwise{apply(row.function, operand(0), operand(1)), {1}},
                      {floats({1}, {row.a}), floats({}, {row.b})}, floats({1}, {row.result}));
    }
}

TEST(ElementwiseLoops, integers_wrap_and_never_trap) {
    struct Row {
        F function;
        Element type;
        int64_t a, b, result;
    };
    const Row rows[] = {
        {F::add, Element::i64, INT64_MAX, 1, INT64_MIN},
        {F::add, Element::i32, INT32_MAX, 1, INT32_MIN},
        {F::add, Element::u8, 250, 10, 4},
        {F::subtract, Element::u8, 1, 2, 255},
        {F::subtract, Element::i64, INT64_MIN, 1, INT64_MAX},
        {F::multiply, Element::i8, 16, 16, 0},
        {F::multiply, Element::i64, INT64_MIN, -1, INT64_MIN},
        {F::divide, Element::i64, 7, 2, 3},
        {F::divide, Element::i64, -7, 2, -3},
        {F::divide, Element::i64, 7, 0, 0},
        {F::divide, Element::i64, INT64_MIN, -1, INT64_MIN},
        {F::divide, Element::i8, -128, -1, -128},
        {F::remainder, Element::i64, -7, 3, 2},
        {F::remainder, Element::i64, 7, -3, -2},
        {F::remainder, Element::i64, 6, -3, 0},
        {F::remainder, Element::i64, 6, 0, 0},
        {F::remainder, Element::i64, INT64_MIN, -1, 0},
        {F::power, Element::i64, 3, 4, 81},
        {F::power, Element::i64, 2, -1, 0},
        {F::power, Element::i64, -1, -3, -1},
        {F::power, Element::i64, 0, -1, 0},
        {F::power, Element::i64, 0, 0, 1},
        {F::power, Element::i64, 2, INT64_MAX, 0},
        {F::power, Element::i32, 2, 31, INT32_MIN},
        {F::minimum, Element::i32, -2, 3, -2},
        {F::maximum, Element::u32, 2, UINT32_MAX, UINT32_MAX},
    };
    for (const Row &row : rows) {
        expect_result(Elementwise{apply(row.function, operand(0), operand(1)), {}},
                      {integers({}, {row.a}, row.type), integers({}, {row.b}, row.type)},
                      integers({}, {row.result}, row.type));
    }
    expect_result(Elementwise{apply(F::negate, operand(0)), {2}}, {integers({2}, {INT64_MIN, 5})},
                  integers({2}, {INT64_MIN, -5}));
    expect_result(Elementwise{apply(F::absolute, operand(0)), {2}}, {integers({2}, {INT64_MIN, -5})},
                  integers({2}, {INT64_MIN, 5}));
    expect_result(Elementwise{apply(F::sign, operand(0)), {3}}, {integers({3}, {-9, 0, 9})}, integers({3}, {-1, 0, 1}));
}

TEST(ElementwiseLoops, booleans) {
    const Numbers a = integers({4}, {0, 0, 1, 1}, Element::boolean), b = integers({4}, {0, 1, 0, 1}, Element::boolean);
    const auto both = [&](F function, std::vector<int64_t> expected) {
        expect_result(Elementwise{apply(function, operand(0), operand(1)), {4}}, {a, b},
                      integers({4}, std::move(expected), Element::boolean));
    };
    both(F::logical_and, {0, 0, 0, 1});
    both(F::logical_or, {0, 1, 1, 1});
    both(F::logical_xor, {0, 1, 1, 0});
    both(F::equal, {1, 0, 0, 1});
    expect_result(Elementwise{apply(F::logical_not, operand(0)), {4}}, {a},
                  integers({4}, {1, 1, 0, 0}, Element::boolean));
    expect_result(Elementwise{apply(F::less, operand(0), operand(1)), {3}},
                  {floats({3}, {1, nan, 2}), floats({3}, {2, 2, 2})}, integers({3}, {1, 0, 0}, Element::boolean));
    expect_result(Elementwise{apply(F::less_or_equal, operand(0), operand(1)), {3}},
                  {integers({3}, {1, 3, 2}), integers({3}, {2, 2, 2})}, integers({3}, {1, 0, 1}, Element::boolean));
    expect_result(Elementwise{apply(F::select, operand(0), operand(1), operand(2)), {4}},
                  {a, floats({4}, {1, 2, 3, 4}), floats({}, {nan})}, floats({4}, {nan, nan, 3, 4}));
    expect_result(Elementwise{apply(F::select, operand(0), operand(1), operand(2)), {4}},
                  {a, integers({4}, {1, 2, 3, 4}), integers({}, {9})}, integers({4}, {9, 9, 3, 4}));
}

TEST(ElementwiseLoops, casts) {
    struct Row {
        Numbers from, to;
    };
    const Row rows[] = {
        {floats({6}, {2.9, -2.9, nan, 1e30, -infinity, 300}),
         integers({6}, {2, -2, 0, INT32_MAX, INT32_MIN, 300}, Element::i32)},
        {floats({3}, {300, -1, 255.9}), integers({3}, {255, 0, 255}, Element::u8)},
        {floats({4}, {0, -0.0, 0.25, nan}), integers({4}, {0, 0, 1, 1}, Element::boolean)},
        {integers({3}, {300, -1, 128}), integers({3}, {44, -1, -128}, Element::i8)},
        {integers({3}, {300, 0, -1}), integers({3}, {1, 0, 1}, Element::boolean)},
        {integers({2}, {0, 1}, Element::boolean), floats({2}, {0, 1})},
        {integers({2}, {16777217, 5}), floats({2}, {16777216, 5})},
        {floats({2}, {1.0009765, 1e6}), floats({2}, {1.0009765625, infinity}, Element::f16)},
        {floats({1}, {0.1}, Element::f64), floats({1}, {0.1f})},
        {floats({1}, {0.1}), floats({1}, {0.1})},
    };
    for (const Row &row : rows) {
        expect_result(Elementwise{cast(operand(0), row.to.form.type), row.to.form.shape}, {row.from}, row.to, 0);
    }
}

TEST(ElementwiseLoops, broadcasting) {
    const Expression sum = apply(F::add, operand(0), operand(1));
    const Numbers rows = floats({2, 1}, {10, 20}), columns = floats({3}, {1, 2, 3});
    expect_result(Elementwise{sum, {2, 3}}, {rows, columns}, floats({2, 3}, {11, 12, 13, 21, 22, 23}));
    expect_result(Elementwise{sum, {2, 2, 3}}, {rows, columns},
                  floats({2, 2, 3}, {11, 12, 13, 21, 22, 23, 11, 12, 13, 21, 22, 23}));
    expect_result(Elementwise{operand(0), {2, 2}}, {floats({}, {7})}, floats({2, 2}, {7, 7, 7, 7}));
    expect_result(Elementwise{constant(3), {2}}, {}, floats({2}, {3, 3}));
    expect_result(Elementwise{constant(3, Element::i64), {}}, {}, integers({}, {3}));
    expect_result(Elementwise{sum, {0, 3}}, {floats({0, 1}, {}), columns}, floats({0, 3}, {}));
    // More than a block of elements.
    expect_result(Elementwise{apply(F::subtract, operand(0), operand(1)), {700}}, {counted({700}, 5), counted({700})},
                  floats({700}, std::vector<double>(700, 5)));
}

TEST(ElementwiseLoops, expressions) {
    const Expression x = operand(0);
    const Expression hard_swish = apply(
        F::multiply, x,
        apply(F::divide, apply(F::minimum, apply(F::maximum, apply(F::add, x, constant(3)), constant(0)), constant(6)),
              constant(6)));
    expect_result(Elementwise{hard_swish, {5}}, {floats({5}, {-4, -1, 0, 2, 5})},
                  floats({5}, {0, -1. / 3, 0, 5. / 3, 5}));
    // A type changes on the way, more than once.
    const Expression whole = cast(cast(apply(F::multiply, x, constant(10)), Element::i32), Element::f32);
    expect_result(Elementwise{apply(F::select, apply(F::equal, whole, constant(12)), x, whole), {2}},
                  {floats({2}, {1.29, 2.57})}, floats({2}, {1.29, 25}));
}

}  // namespace
}  // namespace kiln::graph
