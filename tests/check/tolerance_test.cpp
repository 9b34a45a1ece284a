#include "check/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace kiln {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

Tensor f32(const std::vector<float> &values) {
    Tensor t{DType::f32, {static_cast<int64_t>(values.size())}, std::vector<std::byte>(values.size() * 4)};
    if (!values.empty()) std::memcpy(t.data.data(), values.data(), t.data.size());
    return t;
}

Tensor bits16(DType dtype, const std::vector<uint16_t> &values) {
    Tensor t{dtype, {static_cast<int64_t>(values.size())}, std::vector<std::byte>(values.size() * 2)};
    std::memcpy(t.data.data(), values.data(), t.data.size());
    return t;
}

struct Row {
    std::vector<float> got, expected;
    double tolerance;
    bool passed;
    std::optional<double> max_error;
};

const Row rows[] = {
    {{1, 2, 3}, {1, 2, 3}, 0, true, 0},
    {{}, {}, 0, true, 0},
    {{0.5f}, {0.25f}, 0.25, true, 0.25},  // absolute below 1
    {{0.5f}, {0.25f}, 0.2499, false, 0.25},
    {{102}, {100}, 0.02, true, 0.02},  // relative above 1
    {{103}, {100}, 0.02, false, 0.03},
    {{-103}, {-100}, 0.02, false, 0.03},
    {{100}, {103}, 0.0292, true, 3.0 / 103},  // relative to the expected value
    {{nan_value}, {nan_value}, 0, true, 0},
    {{nan_value}, {1}, 10, false, {}},
    {{1}, {nan_value}, 10, false, {}},
    {{inf}, {inf}, 0, true, 0},
    {{-inf}, {inf}, 10, false, {}},
    {{inf}, {1e38f}, 10, false, {}},
    {{1e38f}, {inf}, 10, false, {}},
    {{nan_value}, {inf}, 10, false, {}},
    {{0.0f}, {-0.0f}, 0, true, 0},
    {{1, nan_value, 2}, {1, 1, 1}, 10, false, {}},  // no number hides behind a later one
};

TEST(Judge, FollowsTheSuitesRule) {
    for (size_t i = 0; i < std::size(rows); i++) {
        const Row &row = rows[i];
        const Verdict verdict = judge(f32(row.got), f32(row.expected), {row.tolerance});
        EXPECT_EQ(verdict.passed, row.passed) << i;
        EXPECT_EQ(verdict.reason.empty(), row.passed) << i;
        ASSERT_EQ(verdict.max_error.has_value(), row.max_error.has_value()) << i;
        EXPECT_NEAR(verdict.max_error.value_or(0), row.max_error.value_or(0), 1e-12) << i;
    }
}

TEST(Judge, WidensBothSides) {
    EXPECT_TRUE(judge(bits16(DType::bf16, {0x3f80, 0xc000}), f32({1, -2}), {0}).passed);
    EXPECT_TRUE(judge(bits16(DType::f16, {0x3c00, 0x7c00}), f32({1, inf}), {0}).passed);
    EXPECT_FALSE(judge(bits16(DType::f16, {0x3c00}), bits16(DType::bf16, {0x3c00}), {0}).passed);
}

TEST(Judge, ShapesMustAgree) {
    Tensor got = f32({1, 2}), expected = f32({1, 2});
    expected.shape = {1, 2};
    const Verdict verdict = judge(got, expected, {1});
    EXPECT_FALSE(verdict.passed);
    EXPECT_NE(verdict.reason.find("[2]; expected is [1, 2]"), std::string::npos) << verdict.reason;
}

TEST(Judge, SaysWhereAndHowMany) {
    const Verdict verdict = judge(f32({1, 5, 3, 9}), f32({1, 2, 3, 4}), {0});
    EXPECT_EQ(verdict.reason, "2 of 4 elements are wrong; element 1 is 5 where 2 is expected");
}

TEST(ConvolutionTolerance, IsTheSuitesFormula) {
    Workload w = convolution({1, 8, 8, 2}, {3, 3, 2, 4});
    EXPECT_DOUBLE_EQ(convolution_tolerance(w).value, std::log(18.0) * 1e-4);
    w.dtype = DType::f16;
    EXPECT_DOUBLE_EQ(convolution_tolerance(w).value, std::log(18.0) * 1e-2);
    w.output_dtype = DType::bf16;
    EXPECT_DOUBLE_EQ(convolution_tolerance(w).value, std::log(18.0) * 5e-2);
    EXPECT_DOUBLE_EQ(convolution_tolerance(convolution({1, 8, 8, 1}, {1, 1, 1, 4})).value, std::log(2.0) * 1e-4);
}

TEST(Judge, AnAbsoluteToleranceHasNoFactor) {
    EXPECT_TRUE(judge(f32({102}), f32({100}), {.value = 0.02}).passed);
    EXPECT_FALSE(judge(f32({102}), f32({100}), {.value = 0.02, .is_absolute = true}).passed);
    const Verdict verdict = judge(f32({102}), f32({100}), {.value = 2, .is_absolute = true});
    EXPECT_TRUE(verdict.passed);
    EXPECT_EQ(verdict.max_error, 2);
}

template<typename T>
Verdict judge_one(scalar::Element type, T got, T expected, double tolerance = 0) {
    const auto bytes = [](const T &value) { return std::as_bytes(std::span(&value, 1)); };
    return judge({type, {1}, bytes(got)}, {type, {1}, bytes(expected)}, {.value = tolerance});
}

TEST(Judge, ElementsOfAnyType) {
    EXPECT_TRUE(judge_one<double>(scalar::Element::f64, 0.5, 0.5).passed);
    EXPECT_FALSE(judge_one<double>(scalar::Element::f64, 0.5, 0.6, 0.05).passed);
    EXPECT_TRUE(judge_one<int64_t>(scalar::Element::i64, INT64_MAX, INT64_MAX).passed);
    EXPECT_FALSE(judge_one<int64_t>(scalar::Element::i64, -3, 3).passed);
    EXPECT_TRUE(judge_one<uint8_t>(scalar::Element::boolean, 1, 1).passed);
    EXPECT_FALSE(judge_one<uint8_t>(scalar::Element::boolean, 1, 0).passed);
    const float one = 1;
    const auto bytes = std::as_bytes(std::span(&one, 1));
    const Elements f32{scalar::Element::f32, {1}, bytes}, i32{scalar::Element::i32, {1}, bytes},
        matrix{scalar::Element::f32, {1, 1}, bytes}, cut{scalar::Element::f32, {1}, bytes.first(3)};
    EXPECT_EQ(judge(i32, f32, {}).reason, "the output's elements are i32; expected are f32");
    EXPECT_EQ(judge(matrix, f32, {}).reason, "the output has shape [1, 1]; expected is [1]");
    EXPECT_EQ(judge(cut, f32, {}).reason, "the output has 3 bytes; expected are 4");
}

// Of 64 bits: doubles of both may be equal, and the difference may be no i64.
TEST(Judge, LargeIntegersAreNotRounded) {
    constexpr int64_t even = int64_t{1} << 53;
    const struct {
        int64_t got, expected;
        double tolerance;
        bool passed;
        double max_error;
    } cases[] = {
        {even, even, 0, true, 0},
        {even + 1, even, 0, false, 0x1p-53},
        {even, even + 1, 0, false, 0x1p-53},
        {even + 1, even, 1e-15, true, 0x1p-53},
        {INT64_MAX, INT64_MAX - 1, 0, false, 0x1p-63},
        {INT64_MIN, INT64_MIN + 1, 0, false, 0x1p-63},
        {INT64_MIN, INT64_MAX, 1.5, false, 2},
        {INT64_MAX, INT64_MIN, 2, true, 2},
        {INT64_MAX, 0, 0, false, 0x1p63},
        {3, 0, 3, true, 3},
        {103, 100, 0.02, false, 0.03},
    };
    for (const auto &c : cases) {
        const Verdict verdict = judge_one(scalar::Element::i64, c.got, c.expected, c.tolerance);
        EXPECT_EQ(verdict.passed, c.passed) << c.got << " for " << c.expected;
        EXPECT_EQ(verdict.max_error.value_or(-1), c.max_error) << c.got << " for " << c.expected;
    }
    EXPECT_EQ(judge_one<int64_t>(scalar::Element::i64, even + 1, even).reason,
              "1 of 1 elements are wrong; element 0 is 9007199254740993 where 9007199254740992 is expected");
    EXPECT_TRUE(judge_one<uint64_t>(scalar::Element::u64, UINT64_MAX, UINT64_MAX).passed);
    EXPECT_FALSE(judge_one<uint64_t>(scalar::Element::u64, UINT64_MAX, UINT64_MAX - 1).passed);
    EXPECT_FALSE(judge_one<uint64_t>(scalar::Element::u64, 0, UINT64_MAX).passed);
}

}  // namespace
}  // namespace kiln
