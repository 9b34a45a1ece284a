#include "tuner/reference/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kiln {
namespace {

constexpr float inf = INFINITY;

TEST(ComparisonTest, F32) {
    std::vector<std::byte> poisoned(4);
    fill_with_poison(poisoned);
    const float unwritten = *reinterpret_cast<const float *>(poisoned.data());
    ASSERT_TRUE(std::isnan(unwritten));
    struct Row {
        std::vector<float> got;
        std::vector<double> expected, magnitude;
        bool against_largest;
        double max_error;
        const char *problem;
    };
    const Row table[] = {
        {{1, 2}, {1, 2}, {1, 2}, false, 0, ""},
        {{1, 2.125}, {1, 2}, {1, 25}, false, 0.005, ""},
        {{1, 2.5},
         {1, 2},
         {1, 4},
         false,
         0.125,
         "output[n=0, h=0, w=0, c=1] is 2.5, expected 2, an error of 0.12 relative to its sum of magnitudes (budget "
         "0.01); "
         "1 of 2 elements are wrong"},
        // Judged by the layer's largest sum, a small element may be far off.
        {{0.5, 200}, {0.25, 200}, {0.25, 250}, true, 0.001, ""},
        {{0.5, 220}, {0.25, 200}, {0.25, 200}, true, 0.1, "relative to the layer's largest sum of magnitudes"},
        // Nothing was added up: no rounding explains a difference.
        {{0, 6}, {0, 6}, {0, 0}, false, 0, ""},
        {{1e-30f, 6}, {0, 6}, {0, 0}, false, inf, "output[n=0, h=0, w=0, c=0] is 1e-30, expected 0"},
        // What has no bound is not within it.
        {{5, 6}, {0, 6}, {NAN, 6}, false, inf, "output[n=0, h=0, w=0, c=0] is 5, expected 0; 1 of 2"},
        {{0, 6}, {0, 6}, {NAN, 6}, false, 0, ""},
        {{5, 6}, {1, 6}, {NAN, 6}, true, 4.0 / 6, "is 5, expected 1"},
        {{NAN, 6.03125}, {NAN, 6}, {NAN, 6}, true, 0.03125 / 6, ""},
        {{NAN, 6}, {1, 6}, {1, 6}, false, inf, "is nan, expected 1; 1 of 2"},
        {{inf, 6}, {1, 6}, {1, 6}, false, inf, "is inf, expected 1; 1 of 2"},
        {{NAN, inf}, {NAN, inf}, {NAN, inf}, false, 0, ""},
        {{1, -inf}, {1, inf}, {1, inf}, false, inf, "is -inf, expected inf"},
        {{1, unwritten},
         {1, 2},
         {1, 2},
         false,
         inf,
         "c=1] was not written, expected 2; 1 of 2 elements are wrong, 1 of them were not written"},
        {{unwritten, unwritten}, {1, 2}, {1, 2}, false, inf, "2 of 2 elements are wrong, 2 of them were not written"},
    };
    const Workload w = convolution({1, 1, 1, 1}, {1, 1, 1, 2});
    for (const Row &row : table) {
        const Comparison c =
            compare({w, std::as_bytes(std::span(row.got)), row.expected, row.magnitude, 0.01, row.against_largest});
        EXPECT_DOUBLE_EQ(c.max_error, row.max_error);
        EXPECT_EQ(c.problem.empty(), *row.problem == 0) << c.problem;
        EXPECT_NE(c.problem.find(row.problem), std::string::npos) << c.problem << " has no " << row.problem;
    }
}

TEST(ComparisonTest, RootMeanSquare) {
    const Workload w = convolution({1, 1, 1, 1}, {1, 1, 1, 4});
    const std::vector<float> got = {1, 1, 1, 2};
    const std::vector<double> expected = {1, 1, 1, 1}, magnitude = {1, 1, 1, 1};
    EXPECT_DOUBLE_EQ(compare({w, std::as_bytes(std::span(got)), expected, magnitude, 1}).rms_error, 0.5);
    EXPECT_DOUBLE_EQ(compare({w, {}, {}, {}, 1}).rms_error, 0);
}

TEST(ComparisonTest, RoundingToTheStoredTypeIsNoError) {
    Workload w = convolution({1, 1, 1, 1}, {1, 1, 1, 1});
    struct Row {
        DType dtype;
        uint16_t got;
        double expected;
        bool good;
    };
    for (const Row &row : {Row{DType::f16, 0x3c00, 1 + 0x1p-12, true},
                           {DType::f16, 0x3c02, 1, false},
                           {DType::bf16, 0x3f80, 1 + 0x1p-9, true},
                           {DType::bf16, 0x3f82, 1, false}}) {
        w.dtype = w.output_dtype = row.dtype;
        const std::vector<uint16_t> got = {row.got};
        const std::vector<double> expected = {row.expected};
        const Comparison c = compare({w, std::as_bytes(std::span(got)), expected, expected, 1e-5});
        EXPECT_EQ(c.problem.empty(), row.good) << c.problem;
    }
    for (const DType dtype : {DType::f16, DType::bf16}) {
        w.dtype = w.output_dtype = dtype;
        std::vector<std::byte> got(2);
        fill_with_poison(got);
        const std::vector<double> expected = {1};
        EXPECT_NE(compare({w, got, expected, expected, 1e-2}).problem.find("was not written"), std::string::npos);
    }
}

// Close to zero, f16 is evenly spaced: half a step is no error of the kernel, a whole one is.
TEST(ComparisonTest, SubnormalRounding) {
    Workload w = convolution({1, 1, 1, 1}, {1, 1, 1, 1});
    w.output_dtype = DType::f16;
    const uint16_t got = 3;  // 3 * 2^-24
    for (const auto &[expected, right] : {std::pair{3.49 * 0x1p-24, true}, {4.0 * 0x1p-24, false}}) {
        const double magnitude = expected;
        const Comparison c = compare(
            {w, std::as_bytes(std::span(&got, 1)), std::span(&expected, 1), std::span(&magnitude, 1), 1e-5, false});
        EXPECT_EQ(c.problem.empty(), right) << expected << ": " << c.problem;
    }
}

// Arithmetic may answer 0 for what no normal number holds; what moves a number keeps it.
TEST(ComparisonTest, SubnormalsMayBeFlushed) {
    const struct {
        const char *key;
        double expected;
        bool right;
    } cases[] = {{"nest/loops:1/operands:1/reads:x0[i0]/term:sigmoid(x0)", 1e-42, true},
                 {"nest/loops:1/operands:1/reads:x0[i0]/term:sigmoid(x0)", 0x1p-125, false},
                 {"layout_transform/input:1x1x1x1/from_layout:NCHW/to_layout:NHWC", 1e-42, false}};
    for (const auto &c : cases) {
        const auto w = parse_workload_key(c.key);
        ASSERT_TRUE(w) << c.key << ": " << w.error().message;
        const float got = 0;
        const Comparison compared = compare(
            {*w, std::as_bytes(std::span(&got, 1)), std::span(&c.expected, 1), std::span(&c.expected, 1), 1e-5, false});
        EXPECT_EQ(compared.problem.empty(), c.right) << c.key << " " << c.expected << ": " << compared.problem;
    }
}

// What is too large for the output's type is infinite there, with its sign, and nothing else is.
TEST(ComparisonTest, Overflow) {
    struct Row {
        uint16_t got;
        double expected;
        bool right;
    };
    constexpr uint16_t infinite = 0x7c00, minus_infinite = 0xfc00, largest = 0x7bff;  // f16
    constexpr Row table[] = {
        {infinite, 160000, true}, {minus_infinite, -160000, true}, {infinite, -160000, false},
        {infinite, 60000, false}, {largest, 65504, true},          {largest, 160000, false},
    };
    Workload w = convolution({1, 1, 1, 1}, {1, 1, 1, 1});
    w.output_dtype = DType::f16;
    for (const Row &row : table) {
        const double magnitude = std::fabs(row.expected);
        const Comparison c = compare({w, std::as_bytes(std::span(&row.got, 1)), std::span(&row.expected, 1),
                                      std::span(&magnitude, 1), 0.01, false});
        EXPECT_EQ(c.problem.empty(), row.right) << row.expected << ": " << c.problem;
    }
}

// What a finite number may be off, one beyond the type may be, too.
TEST(ComparisonTest, OverflowWithinTheErrorsOfTheLayer) {
    struct Row {
        uint16_t got;
        double expected, largest;
        bool right;
    };
    constexpr uint16_t infinite = 0x7c00, minus_infinite = 0xfc00;  // f16
    constexpr Row table[] = {
        {infinite, 60000, 1e6, true},    {minus_infinite, -60000, 1e6, true}, {minus_infinite, 60000, 1e6, false},
        {infinite, 60000, 5e5, false},   {infinite, 10, 1e6, false},          {infinite, -10, 1e7, true},
        {minus_infinite, 10, 1e7, true},
    };
    Workload w = convolution({1, 1, 1, 1}, {1, 1, 1, 2});
    w.output_dtype = DType::f16;
    for (const Row &row : table) {
        const uint16_t got[] = {row.got, infinite};
        const double expected[] = {row.expected, row.largest}, magnitude[] = {std::fabs(row.expected), row.largest};
        const Comparison c = compare({w, std::as_bytes(std::span(got)), expected, magnitude, 0.01, true});
        EXPECT_EQ(c.problem.empty(), row.right) << row.expected << ", " << row.largest << ": " << c.problem;
    }
}

}  // namespace
}  // namespace kiln
