#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/drawn_workloads.h"
#include "tests/test_seed.h"
#include "tuner/reference/comparison.h"
#include "tuner/reference/quantized/quantized_operands.h"
#include "tuner/reference/quantized/requantize_litert.h"
#include "tuner/reference/quantized/requantize_onnx.h"
#include "tuner/reference/reference.h"
#include "workload/quantization/quantization.h"

namespace kiln {
namespace {

constexpr int32_t largest = std::numeric_limits<int32_t>::max(), smallest = std::numeric_limits<int32_t>::min();

// A multiplier of 2^30 is one half. The first rounding takes halves up, the second away from zero.
TEST(RequantizeLitert, RoundsTwice) {
    const struct {
        int32_t sum, multiplier, shift, result;
    } rows[] = {
        {10, 1 << 30, 0, 5},
        {11, 1 << 30, 0, 6},
        {-11, 1 << 30, 0, -5},
        {-1, 1 << 30, 0, 0},
        {1, 1 << 30, 0, 1},
        {10, 1 << 30, 1, 10},
        {10, 1 << 30, -1, 3},
        {-10, 1 << 30, -1, -3},
        {6, 1 << 30, -1, 2},
        {-6, 1 << 30, -1, -2},
        {7, 1 << 30, -1, 2},
        {-7, 1 << 30, -1, -2},
        {1000, 0, 0, 0},
        {largest, largest, -31, 1},
        {smallest, largest, -31, -1},
        {1 << 30, largest, -30, 1},
        {largest, largest, 0, largest - 1},
        {smallest, largest, 0, smallest + 1},
        {1, 1 << 30, 30, 1 << 29},
        {2, 1 << 30, 30, 1 << 29},  // saturates: 2^31 is beyond i32
        {-3, 1 << 30, 30, -(1 << 30)},
        {100, 1 << 30, 30, 1 << 29},
    };
    for (const auto &row : rows) {
        EXPECT_EQ(requantize_litert(row.sum, row.multiplier, row.shift), row.result)
            << row.sum << " " << row.multiplier << " " << row.shift;
    }
}

TEST(RequantizeOnnx, RoundsHalvesToEven) {
    const struct {
        int32_t sum;
        float scale;
        double result;
    } rows[] = {
        {5, 0.5f, 2},  {7, 0.5f, 4}, {-5, 0.5f, -2},       {-7, 0.5f, -4},         {3, 0.25f, 1}, {2, 0.25f, 0},
        {6, 0.25f, 2}, {9, 0, 0},    {1 << 30, 2, 0x1p31}, {16777217, 1, 16777216}};  // sums are f32 before they are scaled
    for (const auto &row : rows)
        EXPECT_EQ(requantize_onnx(row.sum, row.scale), row.result) << row.sum << " " << row.scale;
}

std::vector<int64_t> integers(const Workload &w, const Operands &operands, Role role) {
    for (const TensorForm &form : signature(w).operands) {
        if (form.role != role) continue;
        const std::vector<double> values = canonical(operands.*place_of(role), form);
        return {values.begin(), values.end()};
    }
    return {};
}

// The definition: plain loops over all dimensions, of a rank of 2.
std::vector<double> plain_sums(const Workload &w, const Operands &operands) {
    const auto of = [&](Role role) { return integers(w, operands, role); };
    const std::vector<int64_t> x = of(Role::input), k = of(Role::weights), bias = of(Role::bias);
    const std::vector<int64_t> zero = of(Role::input_zero_point), kernel_zero = of(Role::kernel_zero_point);
    const std::vector<int64_t> y = output_shape(w);
    const int64_t ci = w.kernel[2], co = w.kernel[3], groups = w.feature_group_count * w.batch_group_count;
    std::vector<double> sums;
    for (int64_t n = 0; n < y[0]; n++)
        for (int64_t p = 0; p < y[1]; p++)
            for (int64_t q = 0; q < y[2]; q++)
                for (int64_t o = 0; o < co; o++) {
                    const int64_t group = o / (co / groups);
                    const int64_t image = w.batch_group_count > 1 ? group * y[0] + n : n;
                    const int64_t first = w.feature_group_count > 1 ? group * ci : 0;
                    int64_t sum = bias.empty() ? 0 : bias[o];
                    for (int64_t r = 0; r < w.kernel[0]; r++)
                        for (int64_t s = 0; s < w.kernel[1]; s++) {
                            const int64_t h = p * w.strides[0] + r * w.rhs_dilation[0] - w.padding[0].lo;
                            const int64_t v = q * w.strides[1] + s * w.rhs_dilation[1] - w.padding[1].lo;
                            const bool hole = h % w.lhs_dilation[0] != 0 || v % w.lhs_dilation[1] != 0;
                            const int64_t row = h / w.lhs_dilation[0], column = v / w.lhs_dilation[1];
                            if (h < 0 || v < 0 || hole || row >= w.input[1] || column >= w.input[2]) continue;
                            for (int64_t i = 0; i < ci; i++) {
                                const int64_t a =
                                    x[((image * w.input[1] + row) * w.input[2] + column) * w.input[3] + first + i];
                                const int64_t b = k[((r * w.kernel[1] + s) * ci + i) * co + o];
                                sum += (a - zero[0]) * (b - (kernel_zero.empty() ? 0 : kernel_zero[o]));
                            }
                        }
                    EXPECT_GE(sum, smallest);
                    EXPECT_LE(sum, largest);
                    sums.push_back(static_cast<double>(sum));
                }
    return sums;
}

TEST(QuantizedReference, SumsAreThoseOfPlainLoops) {
    int tried = 0;
    for (uint64_t seed = test_seed(); tried < 60; seed++) {
        ConvolutionDrawer drawer(seed, {.side = 9, .channels = 12, .flops = 400'000, .elements = 20'000});
        Workload w = drawer.next_quantized();
        if (w.spatial_rank != 2 || elements(output_shape(w)) == 0) continue;
        if (adds_quantized(w)) w.epilogue.pop_back();
        if (w.output_dtype != DType::i32) w.epilogue.pop_back(), w.output_dtype = DType::i32;
        for (const Data data : {Data::ordinary, Data::wide}) {
            const Operands operands = make_operands(w, data, seed);
            const auto r = reference(w, operands);
            ASSERT_TRUE(r) << r.error().message;
            EXPECT_EQ(r->expected, store_result(w, plain_sums(w, operands))) << key(w) << " seed " << seed;
        }
        tried++;
    }
}

Workload with_requantization(const char *step) {
    return *parse_workload_key(
        std::string("conv2d/input:1x6x6x8/kernel:3x3x8x16/padding:1,1x1,1/dtype:i8/epilogue:bias,") + step);
}

TEST(QuantizedReference, ResultsSpreadOverTheirRange) {
    for (const char *step : {"requantize_litert", "requantize_onnx", "requantize_litert,add", "requantize_onnx,add"}) {
        const Workload w = with_requantization(step);
        bool seen[256] = {};
        for (uint64_t seed = 1; seed < 9; seed++) {
            const auto r = reference(w, make_operands(w, Data::ordinary, seed));
            ASSERT_TRUE(r) << r.error().message;
            for (const double value : r->expected) {
                ASSERT_TRUE(value >= -128 && value <= 127 && value == std::floor(value)) << value;
                seen[static_cast<int>(value) + 128] = true;
            }
        }
        int count = 0;
        for (const bool is : seen) count += is;
        EXPECT_GT(count, 200) << step;
    }
}

std::vector<double> numbers_of(const Tensor &tensor) {
    std::vector<double> numbers;
    for (const std::byte byte : tensor.data) numbers.push_back(static_cast<int8_t>(byte));
    return numbers;
}

template<typename T>
T number_at(const Tensor &tensor, size_t i = 0) {
    T value;
    std::memcpy(&value, tensor.data.data() + i * sizeof value, sizeof value);
    return value;
}

// What the step adds to the result that the convolution has without it.
TEST(QuantizedReference, AdditionsAreThoseOfTheirDefinition) {
    for (const char *step : {"requantize_litert", "requantize_onnx"}) {
        const Workload plain = with_requantization(step),
                       adding = with_requantization((std::string(step) + ",add").c_str());
        for (const Data data : {Data::ordinary, Data::wide}) {
            const Operands operands = make_operands(adding, data, test_seed());
            const auto before = reference(plain, operands), after = reference(adding, operands);
            ASSERT_TRUE(before && after);
            const std::vector<double> addend = numbers_of(operands.addend);
            for (size_t i = 0; i < addend.size(); i++) {
                int64_t sum = 0;
                if (adding.epilogue[1].kind == EpilogueStep::Kind::requantize_onnx) {
                    const auto factor = [&](size_t f) { return number_at<float>(operands.addition_factors, f); };
                    const volatile float own = static_cast<float>(before->expected[i]) * factor(0);
                    const volatile float other = static_cast<float>(addend[i]) * factor(1);
                    const volatile float both = own + other, all = both + factor(2);
                    sum = static_cast<int64_t>(std::nearbyint(std::clamp(static_cast<float>(all), -1e6F, 1e6F)));
                } else {
                    const auto scaled = [&](int32_t x, size_t f) {
                        return requantize_litert(x, number_at<int32_t>(operands.addition_multiplier, f),
                                                 number_at<int32_t>(operands.addition_shift, f));
                    };
                    const auto own = int32_t(before->expected[i]) - number_at<int32_t>(operands.output_zero_point);
                    const auto other = int32_t(addend[i]) - number_at<int32_t>(operands.addend_zero_point);
                    sum = scaled(scaled(own * (1 << 20), 0) + scaled(other * (1 << 20), 1), 2);
                }
                const int64_t lo = number_at<int32_t>(operands.addition_bounds, 0),
                              hi = number_at<int32_t>(operands.addition_bounds, 1);
                ASSERT_EQ(after->expected[i],
                          double(std::clamp(sum + number_at<int32_t>(operands.addition_zero_point), lo, hi)))
                    << step << " " << i;
            }
        }
    }
}

void set_integers(Tensor &tensor, const std::vector<int32_t> &values) {
    ASSERT_EQ(tensor.data.size(), values.size() * sizeof(int32_t));
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
}

// Results of ADD in ai-edge-litert 2.3.0, whose reference and optimized kernels agree. The convolution hands its input on.
TEST(QuantizedReference, AdditionsAreThoseOfLiteRT) {
    const struct {
        int8_t own, addend;
        std::vector<int32_t> zero_points;  // of both and of the result
        std::vector<int32_t> multipliers, shifts;
        int result;
    } rows[] = {
        {95, 105, {85, -71, -114}, {1073741824, 1073741824, 1073741824}, {0, 0, -18}, 72},
        {56, -63, {82, -41, -57}, {1073741824, 1073741824, 1431655765}, {-1, 0, -19}, -80},
        {125, -15, {82, -41, -57}, {1073741824, 1073741824, 1431655765}, {-1, 0, -19}, -25},
        {-6, 1, {82, -41, -57}, {1073741824, 1073741824, 1431655765}, {-1, 0, -19}, -58},
        {125, -9, {51, 31, -41}, {1211332180, 1073741824, 1813090046}, {-4, 0, -17}, -128},
        {-73, 88, {51, 31, -41}, {1211332180, 1073741824, 1813090046}, {-4, 0, -17}, 122},
        {78, 106, {28, 120, -9}, {1073741824, 2043627347, 2036442849}, {0, -1, -23}, -7},
        {-16, 3, {28, 120, -9}, {1073741824, 2043627347, 2036442849}, {0, -1, -23}, -18},
        {25, -101, {58, 1, 28}, {1073741824, 1388717415, 1789193943}, {0, -6, -17}, -89},
        {-67, -115, {116, -90, 15}, {1762361656, 1073741824, 1705016532}, {-1, 0, -19}, -124},
        {-25, 83, {116, -90, 15}, {1762361656, 1073741824, 1705016532}, {-1, 0, -19}, 60},
        {-105, 41, {-104, -125, -52}, {1073741824, 1501156425, 1586027740}, {0, -7, -16}, -47},
        {-91, 16, {117, 17, -57}, {1179456448, 1073741824, 1373466633}, {-1, 0, -18}, -128},
    };
    const Workload w =
        *parse_workload_key("conv2d/input:1x1x1x1/kernel:1x1x1x1/dtype:i8/epilogue:requantize_litert,add");
    for (const auto &row : rows) {
        Operands operands = make_operands(w, Data::ordinary, 1);
        operands.first.data[0] = std::byte(row.own);
        operands.second.data[0] = std::byte{1};
        operands.addend.data[0] = std::byte(row.addend);
        set_integers(operands.input_zero_point, {row.zero_points[0]});
        set_integers(operands.multiplier, {1 << 30});
        set_integers(operands.shift, {1});
        set_integers(operands.output_zero_point, {row.zero_points[0]});
        set_integers(operands.result_bounds, {-128, 127});
        set_integers(operands.addend_zero_point, {row.zero_points[1]});
        set_integers(operands.addition_multiplier, row.multipliers);
        set_integers(operands.addition_shift, row.shifts);
        set_integers(operands.addition_zero_point, {row.zero_points[2]});
        set_integers(operands.addition_bounds, {-128, 127});
        const auto r = reference(w, operands);
        ASSERT_TRUE(r) << r.error().message;
        EXPECT_EQ(r->expected[0], row.result) << int(row.own) << " + " << int(row.addend);
    }
}

// Every difference is too large, whatever the budget.
TEST(QuantizedReference, ComparisonIsEquality) {
    const Workload w = with_requantization("requantize_litert");
    const auto r = reference(w, make_operands(w, Data::ordinary, 1));
    ASSERT_TRUE(r);
    std::vector<int8_t> got;
    for (const double value : r->expected) got.push_back(static_cast<int8_t>(value));
    const auto problem = [&] {
        return compare({w, std::as_bytes(std::span(got)), r->expected, r->magnitude, 1e9}).problem;
    };
    EXPECT_EQ(problem(), "");
    got[5] = static_cast<int8_t>(got[5] ^ 1);
    EXPECT_NE(problem().find("1 of 576 elements are wrong"), std::string::npos) << problem();
}

TEST(QuantizedReference, RefusesValuesOutOfTheirRange) {
    const Workload litert = with_requantization("requantize_litert,add"),
                   onnx = with_requantization("requantize_onnx,add");
    const int32_t bias = largest - 72 * 255 * 128;
    const float nan = NAN, infinite = INFINITY, negative = -1;
    const struct {
        const Workload &w;
        Tensor Operands::*place;
        int64_t value;
        bool is_right;
        const char *message;
    } rows[] = {
        {litert, &Operands::shift, 30, true, ""},
        {litert, &Operands::shift, 31, false, "shift has the value 31; needs -31 to 30"},
        {litert, &Operands::shift, -31, true, ""},
        {litert, &Operands::shift, -32, false, "shift has the value -32"},
        {litert, &Operands::multiplier, -1, false, "multiplier has the value -1"},
        {litert, &Operands::bias, bias, true, ""},
        {litert, &Operands::bias, bias + 1, false, "bias has the value"},
        {litert, &Operands::bias, -int64_t{bias} - 1, false, "bias has the value"},
        {litert, &Operands::input_zero_point, 128, false, "input_zero_point has the value 128; needs -128 to 127"},
        {litert, &Operands::output_zero_point, -129, false, "output_zero_point has the value -129"},
        {litert, &Operands::result_bounds, 128, false, "result_bounds has the value 128"},
        {onnx, &Operands::scale, std::bit_cast<int32_t>(nan), false, "scale has the value nan"},
        {onnx, &Operands::scale, std::bit_cast<int32_t>(infinite), false, "scale has the value inf"},
        {onnx, &Operands::scale, std::bit_cast<int32_t>(negative), false, "scale has the value -1"},
        {litert, &Operands::addition_shift, 0, true, ""},
        {litert, &Operands::addition_shift, 1, false, "addition_shift has the value 1; needs -31 to 0"},
        {litert, &Operands::addition_multiplier, -1, false, "addition_multiplier has the value -1"},
        {litert, &Operands::addend_zero_point, 128, false, "addend_zero_point has the value 128"},
        {onnx, &Operands::addition_zero_point, -129, false, "addition_zero_point has the value -129"},
        {onnx, &Operands::addition_bounds, 128, false, "addition_bounds has the value 128"},
        {onnx, &Operands::addition_factors, std::bit_cast<int32_t>(negative), true, ""},
        {onnx, &Operands::addition_factors, std::bit_cast<int32_t>(nan), false, "addition_factors has the value nan"},
        {onnx, &Operands::addition_factors, std::bit_cast<int32_t>(0x1.8p64F), false,
         "addition_factors has the value 2.76"},
    };
    for (const auto &row : rows) {
        Operands operands = make_operands(row.w, Data::ordinary, 1);
        const auto value = static_cast<int32_t>(row.value);
        std::memcpy((operands.*row.place).data.data(), &value, sizeof value);
        const auto r = reference(row.w, operands);
        ASSERT_EQ(r.ok(), row.is_right) << row.message << row.value;
        if (!r) {
            EXPECT_NE(r.error().message.find(row.message), std::string::npos) << r.error().message;
        }
    }
    Operands crossed = make_operands(litert, Data::ordinary, 1);
    const int32_t bounds[] = {5, 4};
    std::memcpy(crossed.result_bounds.data.data(), bounds, sizeof bounds);
    const auto r = reference(litert, crossed);
    ASSERT_FALSE(r);
    EXPECT_NE(r.error().message.find("needs lo <= hi"), std::string::npos) << r.error().message;
}

}  // namespace
}  // namespace kiln
