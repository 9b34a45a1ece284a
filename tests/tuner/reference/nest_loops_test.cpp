// The reference of nests, against numbers worked out by hand.
#include "tuner/reference/nest_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tuner/reference/operands.h"
#include "workload/error_budget.h"

namespace kiln {
namespace {

template<typename T>
Tensor tensor(DType dtype, const std::vector<int64_t> &shape, const std::vector<T> &values) {
    Tensor t{dtype, shape, std::vector<std::byte>(values.size() * sizeof(T))};
    std::memcpy(t.data.data(), values.data(), t.data.size());
    return t;
}

struct Row {
    const char *fields;
    std::vector<std::vector<float>> operands;
    std::vector<double> expected;
    std::vector<int32_t> table = {};  // the operand after the others, if there is one
};

TEST(NestLoops, FollowTheDefinition) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Row rows[] = {
        {"loops:3/operands:3,1/reads:x0[i0];x1[0]/term:max(add(x0,x1),0)", {{-2, 0, 3}, {1}}, {0, 1, 4}},
        {"loops:2/over:3/operands:2x3/reduction:sum/reads:x0[i0,r0]/term:mul(x0,x0)", {{1, 2, 3, 4, 5, 6}}, {14, 77}},
        {"loops:3/over:3/operands:3/reduction:maximum/reads:x0[i0+r0-1]/term:x0", {{-5, -7, -9}}, {-5, -5, -7}},
        {"loops:3/over:3/operands:3/reduction:mean/reads:x0[i0+r0-1]/term:x0", {{3, 6, 9}}, {4.5, 6, 7.5}},
        {"loops:2/over:3/operands:1/reduction:minimum/reads:x0[i0+r0+1]/term:x0", {{4}}, {infinity, infinity}},
        {"loops:2/over:2/operands:4/reduction:product/reads:x0[2*i0+r0]/term:x0", {{2, 3, 4, 5}}, {6, 20}},
        {"loops:5/operands:3/reads:x0[i0-1]/term:add(x0,1)", {{1, 2, 3}}, {0, 2, 3, 4, 0}},
        {"loops:3/operands:3/reads:x0[-i0+2]/term:x0", {{1, 2, 3}}, {3, 2, 1}},
        {"loops:4/operands:3,4/reads:x0[x1[i0]]/term:x0", {{10, 20, 30}}, {30, 0, 10, 10}, {2, -1, 0, 0}},
        {"loops:1/over:4/operands:4,1/reduction:sum/reads:x0[r0];x1[i0]/term:x0/finish:div(x2,x1)",
         {{1, 2, 3, 4}, {4}},
         {2.5}},
        // What only finish takes is outside for i0 = 0: no term is left, and finish takes 0.
        {"loops:3/over:2/operands:4,3/reduction:sum/reads:x0[i0+r0];x1[i0-1]/term:x0/finish:add(x1,x2)",
         {{1, 2, 3, 4}, {10, 20, 30}},
         {0, 15, 27}},
        {"loops:3/operands:3/reads:x0[i0]/term:select(less(x0,0),mul(x0,0.5),x0)", {{-2, 0, 3}}, {-1, 0, 3}},
        {"loops:2/operands:2/reads:x0[i0]/term:pow(x0,2)", {{-3, 4}}, {9, 16}},
        {"loops:3/operands:3/reads:x0[i0]/term:log1p(exp(x0))", {{100, -1000, 0}}, {infinity, 0, std::log(2)}},
        {"loops:2/operands:2/reads:x0[i0]/term:tanh(neg(exp(x0)))", {{1000, 100}}, {-1, -1}},
    };
    for (const Row &row : rows) {
        const auto w = parse_workload_key(std::string("nest/") + row.fields);
        ASSERT_TRUE(w) << row.fields << ": " << w.error().message;
        Operands operands;
        const std::vector<NamedOperand> list = operand_list(*w);
        for (size_t i = 0; i < list.size(); i++) {
            const std::vector<int64_t> &shape = list[i].tensor.shape;
            operands.*list[i].place = i < row.operands.size() ? tensor(DType::f32, shape, row.operands[i])
                                                              : tensor(DType::i32, shape, row.table);
        }
        EXPECT_EQ(compute_nest(*w, operands).sum, row.expected) << row.fields;
    }
}

// Others would be infinite: kernels need not agree on them.
TEST(NestLoops, WideNumbersThatBecomeF16AreNumbersOfF16) {
    for (const auto &[term, most] :
         {std::pair{"f32(mul(f16(x0),f16:0))", 128.0f}, std::pair{"mul(x0,0)", 1048576.0f}}) {
        const auto w = parse_workload_key(std::string("nest/loops:1000/operands:1000/reads:x0[i0]/term:") + term);
        ASSERT_TRUE(w) << term << ": " << w.error().message;
        const Operands operands = make_operands(*w, Data::wide, 1);
        float largest = 0;
        for (size_t i = 0; i < 1000; i++) {
            float number = 0;
            std::memcpy(&number, operands.first.data.data() + i * sizeof number, sizeof number);
            largest = std::max(largest, std::fabs(number));
        }
        EXPECT_LE(largest, most) << term;
        EXPECT_GE(largest, most / 2) << term;
    }
}

// Products of 32 bits have more digits than f64.
TEST(NestLoops, IntegersOf64BitsAreExact) {
    constexpr int32_t a = 2147483629, b = -2147483587;
    constexpr int64_t product = int64_t{a} * b;
    const struct {
        const char *term;
        double expected;
    } rows[] = {
        {"i32(mul(i64(x0),i64(x1)))", static_cast<int32_t>(product)},
        {"i32(mod(mul(i64(x0),i64(x1)),i64:1000007))", double(product % 1000007 + 1000007)},
        {"i32(div(mul(i64(x0),i64(x1)),i64:-4294967296))", double(product / -4294967296)},
        {"i32(sub(add(mul(i64(x0),i64(x1)),i64(x0)),mul(i64(x0),i64(x1))))", a},
        {"i32(less(mul(i64(x0),i64(x1)),add(mul(i64(x0),i64(x1)),i64:1)))", 1},
        {"i32(equal(mul(i64(x0),i64(x1)),add(mul(i64(x0),i64(x1)),i64:1)))", 0},
        {"i32(less_or_equal(mul(i64(x0),i64(x1)),mul(i64(x1),i64(x0))))", 1},
        {"i32(max(min(mul(i64(x0),i64(x1)),i64:5),neg(abs(i64(x1)))))", b},
        {"i32(sign(mul(i64(x0),i64(x1))))", -1},
        {"i32(mul(mul(i64(x0),i64(x1)),mul(i64(x0),i64(x1))))",
         static_cast<int32_t>(uint64_t(product) * uint64_t(product))},
        {"i32(select(less(i64(x0),i64(x1)),i64:1,mul(i64(x0),i64:3)))", static_cast<int32_t>(int64_t{a} * 3)},
        {"i32(div(u64(x1),u64:4294967296))", -1},
        {"i32(pow(i64(x0),i64:0))", 1},
        {"i32(i64(bool(mul(i64(x0),i64(x1)))))", 1},
    };
    for (const auto &row : rows) {
        const auto w =
            parse_workload_key(std::string("nest/dtype:i32/loops:1/operands:1,1/reads:x0[i0];x1[i0]/term:") + row.term);
        ASSERT_TRUE(w) << row.term << ": " << w.error().message;
        Operands operands;
        const std::vector<NamedOperand> list = operand_list(*w);
        operands.*list[0].place = tensor(DType::i32, {1}, std::vector<int32_t>{a});
        operands.*list[1].place = tensor(DType::i32, {1}, std::vector<int32_t>{b});
        EXPECT_EQ(compute_nest(*w, operands).sum, std::vector<double>{row.expected}) << row.term;
    }
}

// The bound grows with what a function does to the error of its argument: exp(10) is 10 times as sensitive as exp(1).
TEST(NestLoops, ErrorsAreBoundedThroughFunctions) {
    const auto w = parse_workload_key("nest/loops:2/operands:2/reads:x0[i0]/term:exp(x0)");
    ASSERT_TRUE(w);
    Operands operands;
    operands.first = tensor(DType::f32, {2}, std::vector<float>{1, 10});
    const Sums sums = compute_nest(*w, operands);
    EXPECT_DOUBLE_EQ(sums.magnitude[0], 2 * std::exp(1));
    EXPECT_DOUBLE_EQ(sums.magnitude[1], 11 * std::exp(10));
}

// What a rounding may decide either way has an error as large as the difference; what no rounding touched has none.
TEST(NestLoops, RoundingsDecideOnlyWhatIsClose) {
    constexpr double anything = std::numeric_limits<double>::infinity();
    const double one = 1 / default_error_budget;
    const struct {
        const char *term;
        float x;
        double least, most;  // of the error
    } cases[] = {
        {"ceil(tanh(x0))", -20, one, 2 * one},  // -1 in f32, just above in f64
        {"ceil(tanh(x0))", -1, 0, 0},
        {"ceil(x0)", 3, 0, 0},
        {"floor(mul(x0,0.5))", 4, one, 2 * one},
        {"select(less(x0,1),5,7)", 1, 0, 7},  // both are given
        {"select(less(exp(x0),1),5,7)", 0, 2 * one, 3 * one},
        {"select(less(exp(x0),1),5,7)", 1, 0, 7},
        {"sign(sub(mul(x0,x0),4))", 2, one, 2 * one},
        {"add(f32(i32(x0)),0.5)", 500000, 500000, 500001},  // exact, but for the rounding of the sum
        {"add(f32(i32(x0)),f32(i32(1)))", 500000, 0, 0},
        {"f32(i32(x0))", std::numeric_limits<float>::quiet_NaN(), anything, anything},
        {"f32(i32(exp(x0)))", 0, one, 2 * one},
        // What f32 has no number for, and what may be 0 there.
        {"log(exp(x0))", -95, anything, anything},
        {"log(exp(x0))", -80, 160, 240},
        {"reciprocal(exp(x0))", -95, anything, anything},
        {"div(x0,exp(x0))", -95, anything, anything},
        {"mul(log(exp(x0)),0)", -95, anything, anything},
        {"tanh(log(exp(x0)))", -95, anything, anything},
        // Where a slope is infinite, what has no error passes none on.
        {"pow(x0,0.5)", 0, 0, 0},
        {"pow(x0,2)", 0, 0, 0},
        {"pow(x0,0)", 0, 1, 1},
        {"pow(x0,-1)", std::numeric_limits<float>::infinity(), 0, anything},
        {"sqrt(x0)", 0, 0, 0},
        {"pow(x0,3)", 2, 65, 66},
    };
    for (const auto &c : cases) {
        const auto w = parse_workload_key("nest/loops:1/operands:1/reads:x0[i0]/term:" + std::string(c.term));
        ASSERT_TRUE(w) << c.term << ": " << w.error().message;
        Operands operands;
        operands.first = tensor(DType::f32, {1}, std::vector<float>{c.x});
        const double error = compute_nest(*w, operands).magnitude[0];
        EXPECT_TRUE(error >= c.least && error <= c.most) << c.term << " of " << c.x << ": " << error;
    }
}

// -83.49998 may be rounded to either side, and 0 or 1 be stored: a step of f32 stays a whole one where it becomes an integer.
TEST(NestLoops, WhatIsStoredMayBeAWholeStepAway) {
    const auto w = parse_workload_key(
        "nest/output_dtype:u8/loops:1/operands:1/reads:x0[i0]/"
        "term:u8(add(round(div(erf(div(x0,1.4142135381698608)),0.006226780358701944)),83))");
    ASSERT_TRUE(w) << w.error().message;
    Operands operands;
    operands.first = tensor(DType::f32, {1}, std::vector<float>{-0.706199646F});
    EXPECT_GE(compute_nest(*w, operands).magnitude[0] * default_error_budget, 0.999999);
}

// Products of many numbers stay within the range of f32 in any order, and are not 0.
TEST(NestLoops, OperandsOfProductsStayNearOne) {
    const auto w = parse_workload_key("nest/loops:1/over:2000/operands:2000/reduction:product/reads:x0[r0]/term:x0");
    ASSERT_TRUE(w);
    for (const Data data : {Data::ordinary, Data::wide}) {
        const double product = std::fabs(compute_nest(*w, make_operands(*w, data, 1)).sum[0]);
        EXPECT_TRUE(product > 1e-35 && product < 1e35) << product;
    }
}

TEST(NestLoops, TablesAreFilledWithIndicesAndWhatLiesOutside) {
    const auto w = parse_workload_key("nest/loops:1000/operands:3,1000/reads:x0[x1[i0]]/term:x0");
    ASSERT_TRUE(w);
    const Operands operands = make_operands(*w, Data::ordinary, 1);
    int counts[5] = {};
    for (size_t i = 0; i < 1000; i++) {
        int32_t index;
        std::memcpy(&index, operands.operand_1.data.data() + 4 * i, 4);
        ASSERT_TRUE(index >= -1 && index < 3) << index;
        counts[index + 1]++;
    }
    for (int i = 0; i < 4; i++) EXPECT_GT(counts[i], 150) << i - 1;
}

}  // namespace
}  // namespace kiln
