#include "tuner/reference/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "tests/test_seed.h"

namespace kiln {
namespace {

Tensor f32_tensor(std::vector<int64_t> shape, const std::vector<float> &values) {
    Tensor tensor{DType::f32, std::move(shape), {}};
    tensor.data.resize(values.size() * sizeof(float));
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
    return tensor;
}

// The definition, element by element and without regard for speed: two spatial dimensions, NHWC and HWIO.
std::vector<double> by_definition(const Workload &w, const Operands &operands, bool absolute) {
    const auto x = canonical_activation(operands.first, w.input, w.input_layout);
    const auto k = canonical_kernel(operands.second, w.kernel, w.kernel_layout);
    const auto shape = output_shape(w);
    const int64_t ci = w.kernel[2], co = w.kernel[3], group_co = co / (w.feature_group_count * w.batch_group_count);
    std::vector<double> y;
    for (int64_t n = 0; n < shape[0]; n++)
        for (int64_t p = 0; p < shape[1]; p++)
            for (int64_t q = 0; q < shape[2]; q++)
                for (int64_t o = 0; o < co; o++) {
                    const int64_t group = o / group_co;
                    const int64_t n_in = w.batch_group_count > 1 ? group * shape[0] + n : n;
                    double sum = 0;
                    for (int64_t r = 0; r < w.kernel[0]; r++)
                        for (int64_t s = 0; s < w.kernel[1]; s++)
                            for (int64_t i = 0; i < ci; i++) {
                                const int64_t c = w.feature_group_count > 1 ? group * ci + i : i;
                                const int64_t h = p * w.strides[0] + r * w.rhs_dilation[0] - w.padding[0].lo;
                                const int64_t v = q * w.strides[1] + s * w.rhs_dilation[1] - w.padding[1].lo;
                                if (h < 0 || v < 0 || h % w.lhs_dilation[0] || v % w.lhs_dilation[1] ||
                                    h / w.lhs_dilation[0] >= w.input[1] || v / w.lhs_dilation[1] >= w.input[2]) {
                                    continue;
                                }
                                const double product = x[((n_in * w.input[1] + h / w.lhs_dilation[0]) * w.input[2] +
                                                          v / w.lhs_dilation[1]) *
                                                             w.input[3] +
                                                         c] *
                                                       k[((r * w.kernel[1] + s) * ci + i) * co + o];
                                sum += absolute ? std::fabs(product) : product;
                            }
                    y.push_back(sum);
                }
    return y;
}

// Shapes and attributes drawn small, so that every corner is hit: crops, holes, groups, empty outputs.
Workload random_workload(std::mt19937_64 &rng) {
    const auto draw = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(rng); };
    const int64_t kind = draw(0, 2), groups = kind ? draw(2, 3) : 1;
    const int64_t ci = draw(1, 5), co = groups * draw(1, 70);
    Workload w = convolution(
        {kind == 2 ? groups * draw(1, 2) : draw(1, 2), draw(1, 9), draw(1, 9), kind == 1 ? ci * groups : ci},
        {draw(1, 4), draw(1, 4), ci, co});
    w.feature_group_count = kind == 1 ? groups : 1;
    w.batch_group_count = kind == 2 ? groups : 1;
    for (int d = 0; d < 2; d++) {
        w.strides[d] = draw(1, 3);
        w.lhs_dilation[d] = draw(1, 3);
        w.rhs_dilation[d] = draw(1, 3);
        w.padding[d] = {draw(-2, 4), draw(-2, 4)};
    }
    return w;
}

double dot(const std::vector<double> &a, const std::vector<double> &b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

TEST(ReferenceTest, AHandMadeCase) {
    // 1x3x3 ramp, 2x2 kernel of distinct powers of ten, bias 0.5: no flip of the kernel.
    Workload w = convolution({1, 3, 3, 1}, {2, 2, 1, 1});
    w.epilogue = {EpilogueStep{EpilogueStep::Kind::bias}};
    const Operands operands{f32_tensor({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                            f32_tensor({2, 2, 1, 1}, {1, 10, 100, 1000}),
                            f32_tensor({1}, {0.5f}),
                            {}};
    const auto r = reference(w, operands);
    ASSERT_TRUE(r.ok());
    EXPECT_EQ(r->expected, (std::vector<double>{5421.5, 6532.5, 8754.5, 9865.5}));
    EXPECT_EQ(r->magnitude, r->expected);
}

TEST(ReferenceTest, ForwardIsTheDefinition) {
    std::mt19937_64 rng(test_seed());
    int empty = 0;
    for (int i = 0; i < 400; i++) {
        const Workload w = random_workload(rng);
        ASSERT_TRUE(validate(w).ok()) << key(w);
        const Operands operands = make_operands(w, Data::ordinary, uint64_t(i));
        const auto r = reference(w, operands);
        ASSERT_TRUE(r.ok());
        const auto expected = by_definition(w, operands, false), magnitude = by_definition(w, operands, true);
        ASSERT_EQ(r->expected.size(), expected.size()) << key(w);
        empty += expected.empty();
        for (size_t j = 0; j < expected.size(); j++) {
            ASSERT_NEAR(r->expected[j], expected[j], 1e-12) << key(w) << " at " << j;
            ASSERT_NEAR(r->magnitude[j], magnitude[j], 1e-12) << key(w) << " at " << j;
        }
    }
    EXPECT_GT(empty, 0);
}

// <dy, conv(x, k)> = <dx, x> = <dk, k> for every dy: that is what a gradient is.
TEST(ReferenceTest, GradientsAreAdjoint) {
    std::mt19937_64 rng(test_seed() + 1);
    for (int i = 0; i < 400; i++) {
        Workload w = random_workload(rng);
        const std::vector<int64_t> output = output_shape(w);
        const Operands forward = make_operands(w, Data::ordinary, uint64_t(i));
        const auto y = reference(w, forward);
        w.op = Operation::conv_backprop_input;
        Operands backward = make_operands(w, Data::ordinary, uint64_t(i) + 1000);
        backward.second = forward.second;
        const auto dx = reference(w, backward);
        w.op = Operation::conv_backprop_kernel;
        const auto dk = reference(w, {forward.first, backward.first, {}, {}});
        ASSERT_TRUE(y.ok() && dx.ok() && dk.ok()) << key(w);
        const double inner = dot(canonical_activation(backward.first, output, {}), y->expected);
        ASSERT_NEAR(dot(dx->expected, canonical_activation(forward.first, w.input, {})), inner, 1e-9) << key(w);
        ASSERT_NEAR(dot(dk->expected, canonical_kernel(forward.second, w.kernel, {})), inner, 1e-9) << key(w);
        for (const auto *r : {&*dx, &*dk}) {
            for (size_t j = 0; j < r->expected.size(); j++) {
                ASSERT_LE(std::fabs(r->expected[j]), r->magnitude[j] + 1e-12);
            }
        }
    }
}

TEST(ReferenceTest, OtherRanksAreTwoDimensionalOnesWithExtentsOfOne) {
    Workload flat = convolution({2, 9, 3}, {4, 3, 5});
    flat.strides = {2};
    flat.padding = {{2, 1}};
    flat.lhs_dilation = {2};
    flat.rhs_dilation = {3};
    const auto embed = [&](int rank, int dimension) {
        std::vector<int64_t> input(rank + 2, 1), kernel(rank + 2, 1);
        input.front() = 2;
        input.back() = kernel[rank] = 3;
        kernel.back() = 5;
        input[dimension + 1] = 9;
        kernel[dimension] = 4;
        Workload w = convolution(input, kernel);
        w.strides[dimension] = 2;
        w.padding[dimension] = {2, 1};
        w.lhs_dilation[dimension] = 2;
        w.rhs_dilation[dimension] = 3;
        return w;
    };
    for (const Operation op : {Operation::conv, Operation::conv_backprop_input, Operation::conv_backprop_kernel}) {
        flat.op = op;
        Operands operands = make_operands(flat, Data::ordinary, 5);
        const auto expected = reference(flat, operands);
        ASSERT_TRUE(expected.ok());
        for (int rank = 1; rank <= 3; rank++) {
            for (int dimension = 0; dimension < rank; dimension++) {
                Workload w = embed(rank, dimension);
                w.op = op;
                const auto r = reference(w, operands);
                ASSERT_TRUE(r.ok());
                EXPECT_EQ(r->expected, expected->expected) << key(w);
            }
        }
    }
}

TEST(ReferenceTest, LayoutsHoldTheSameNumbers) {
    const Workload plain = [] {
        Workload w = convolution({2, 4, 5, 6}, {3, 2, 6, 7});
        w.padding = {{1, 1}, {0, 1}};
        return w;
    }();
    const ActivationLayout layouts[] = {{}, {ActivationLayout::Kind::nchw, 0}, {ActivationLayout::Kind::nchwc, 4}};
    for (const Operation op : {Operation::conv, Operation::conv_backprop_input, Operation::conv_backprop_kernel}) {
        for (const ActivationLayout &input : layouts) {
            for (const ActivationLayout &output : layouts) {
                for (const KernelLayout kernel : {KernelLayout::hwio, KernelLayout::hwoi}) {
                    Workload w = plain;
                    w.op = op;
                    w.input_layout = input;
                    w.output_layout = output;
                    w.kernel_layout = kernel;
                    const Operands operands = make_operands(w, Data::ordinary, 3);
                    // The same numbers, stored plainly.
                    const auto plainly = [](const std::vector<double> &values, std::vector<int64_t> shape) {
                        return f32_tensor(std::move(shape), std::vector<float>(values.begin(), values.end()));
                    };
                    Workload p = plain;
                    p.op = op;
                    const auto x = [&](const Tensor &t) {
                        return plainly(canonical_activation(t, w.input, input), w.input);
                    };
                    const auto y = [&](const Tensor &t) {
                        return plainly(canonical_activation(t, output_shape(w), output), output_shape(w));
                    };
                    const auto k = [&](const Tensor &t) {
                        return plainly(canonical_kernel(t, w.kernel, kernel), w.kernel);
                    };
                    const Operands plain_operands{
                        op == Operation::conv_backprop_input ? y(operands.first) : x(operands.first),
                        op == Operation::conv_backprop_kernel ? y(operands.second) : k(operands.second),
                        {},
                        {}};
                    const auto got = reference(w, operands), expected = reference(p, plain_operands);
                    ASSERT_TRUE(got.ok() && expected.ok());
                    EXPECT_EQ(int64_t(got->expected.size()), elements(stored_result_shape(w)));
                    EXPECT_EQ(got->expected, store_result(w, expected->expected)) << key(w);
                }
            }
        }
    }
}

TEST(ReferenceTest, EpilogueInOrder) {
    using Kind = EpilogueStep::Kind;
    struct Row {
        std::vector<EpilogueStep> epilogue;
        std::vector<double> expected;  // from sums -3, 2 with bias 1, addend 10 and slope -4
        double magnitude_of_first;
    };
    const Row table[] = {
        {{}, {-3, 2}, 3},
        {{{Kind::bias}}, {-2, 3}, 4},
        {{{Kind::relu}}, {0, 2}, 3},
        {{{Kind::bias}, {Kind::relu}, {Kind::add}}, {10, 13}, 14},
        {{{Kind::add}, {Kind::clamp, 8, 11}}, {8, 11}, 13},
        {{{Kind::clamp, -1, 1}, {Kind::bias}}, {0, 2}, 4},
        {{{Kind::clamp, -INFINITY, 1}}, {-3, 1}, 3},
        // A step passes on its steepness of the sum's errors and rounds its result.
        {{{Kind::leaky_relu, 0.25f}, {Kind::add}}, {9.25, 12}, 13.75},
        {{{Kind::leaky_relu, -2}}, {6, 2}, 12},
        {{{Kind::hard_sigmoid, 0.125f, 0.5f}}, {0.125, 0.75}, 0.5},
        {{{Kind::prelu}, {Kind::bias}}, {13, 3}, 25},
        {{{Kind::add}, {Kind::prelu}}, {7, 12}, 59},
        {{{Kind::bias}, {Kind::scale}}, {-10, 15}, 30},
    };
    for (const Row &row : table) {
        Workload w = convolution({1, 1, 2, 1}, {1, 1, 1, 1});
        w.epilogue = row.epilogue;
        const Operands operands{
            f32_tensor({1, 1, 2, 1}, {-3, 2}),  f32_tensor({1, 1, 1, 1}, {1}), f32_tensor({1}, {1}),
            f32_tensor({1, 1, 2, 1}, {10, 10}), f32_tensor({1}, {-4}),         f32_tensor({1}, {5})};
        const auto r = reference(w, operands);
        ASSERT_TRUE(r.ok());
        EXPECT_EQ(r->expected, row.expected) << key(w);
        EXPECT_EQ(r->magnitude[0], row.magnitude_of_first) << key(w);
    }
}

// Padding stays zero, and magnitudes are those of what was added and multiplied.
TEST(ReferenceTest, PrologueInOrder) {
    using Kind = EpilogueStep::Kind;
    struct Row {
        std::vector<EpilogueStep> prologue;
        std::vector<double>
            expected;  // input -3, 2 with factor 10, summand 4; the kernel is 1, -1 on an input padded by one
        double magnitude_of_second;
    };
    const Row table[] = {
        {{}, {3, -5, 2}, 5},
        {{{Kind::relu}}, {0, -2, 2}, 5},
        {{{Kind::scale}}, {30, -50, 20}, 100},
        {{{Kind::bias}}, {-1, -5, 6}, 13},
        {{{Kind::scale}, {Kind::bias}, {Kind::relu}}, {0, -24, 24}, 108},
        {{{Kind::bias}, {Kind::scale}}, {-10, -50, 60}, 200},
    };
    for (const Row &row : table) {
        Workload w = convolution({1, 2, 1}, {2, 1, 1});
        w.padding = {{1, 1}};
        w.prologue = row.prologue;
        Operands operands{f32_tensor({1, 2, 1}, {-3, 2}), f32_tensor({2, 1, 1}, {1, -1})};
        operands.input_factor = f32_tensor({1}, {10}), operands.input_bias = f32_tensor({1}, {4});
        const auto r = reference(w, operands);
        ASSERT_TRUE(r.ok());
        EXPECT_EQ(r->expected, row.expected) << key(w);
        EXPECT_EQ(r->magnitude[1], row.magnitude_of_second) << key(w);
    }
}

// 1, -2, 3 padded by a zero, twice: 10 and 1 of it and the pixel behind it, then a bias and relu, then 2 and 3 of the two channels.
TEST(ReferenceTest, DepthwiseInFront) {
    const auto w = parse_workload_key("conv1d/input:1x3x2/kernel:1x2x1/padding:1,0/prologue:bias,relu/depthwise:2");
    ASSERT_TRUE(w) << w.error().message;
    Operands operands{f32_tensor({1, 3, 2}, {1, 1, -2, -2, 3, 3}), f32_tensor({1, 2, 1}, {2, 3})};
    operands.depthwise_kernel = f32_tensor({2, 1, 2}, {10, 0, 1, -1});
    operands.input_bias = f32_tensor({2}, {4, -1});
    const auto r = reference(*w, operands);
    ASSERT_TRUE(r.ok());
    // The first channel has the sums 1, 8, -17, the second -1, 2, -3.
    EXPECT_EQ(r->expected, (std::vector<double>{2 * 5 + 0, 2 * 12 + 3 * 1, 0}));
    EXPECT_EQ(r->magnitude, (std::vector<double>{2 * 5 + 3 * 2, 2 * 16 + 3 * 3, 2 * 27 + 3 * 4}));
}

TEST(ReferenceTest, NaNPassesThroughTheEpilogue) {
    Workload w = convolution({1, 1, 1, 1}, {1, 1, 1, 1});
    w.epilogue = {{EpilogueStep::Kind::relu}, {EpilogueStep::Kind::clamp, 0, 6}};
    const auto r = reference(w, {f32_tensor({1, 1, 1, 1}, {NAN}), f32_tensor({1, 1, 1, 1}, {1}), {}, {}});
    ASSERT_TRUE(r.ok());
    EXPECT_TRUE(std::isnan(r->expected[0]));
}

TEST(ReferenceTest, RefusesWhatItCannotCompute) {
    Workload bytes = convolution({1, 1, 1, 1}, {1, 1, 1, 1});
    bytes.dtype = bytes.output_dtype = DType::i8;
    Workload gradient = convolution({1, 1, 1, 1}, {1, 1, 1, 1});
    gradient.op = Operation::conv_backprop_input;
    gradient.epilogue = {{EpilogueStep::Kind::relu}};
    for (const Workload &w : {bytes, gradient}) {
        const auto r = reference(w, {});
        ASSERT_FALSE(r.ok());
        EXPECT_EQ(r.error().code, ErrorCode::unsupported);
    }
}

TEST(OperandsTest, SameSeedSameNumbersInTheirRange) {
    Workload w = convolution({1, 16, 16, 8}, {3, 3, 8, 16});
    w.epilogue = {{EpilogueStep::Kind::bias}, {EpilogueStep::Kind::prelu}, {EpilogueStep::Kind::add}};
    const Operands a = make_operands(w, Data::ordinary, 1);
    EXPECT_EQ(a.first, make_operands(w, Data::ordinary, 1).first);
    EXPECT_NE(a.first, make_operands(w, Data::ordinary, 2).first);
    EXPECT_EQ(a.bias.shape, (std::vector<int64_t>{16}));
    EXPECT_EQ(a.addend.shape, output_shape(w));
    EXPECT_EQ(a.slope.shape, (std::vector<int64_t>{16}));
    EXPECT_NE(a.slope, a.bias);
    double sum = 0, largest = 0;
    for (const double v : canonical_activation(a.first, w.input, {})) {
        sum += v;
        largest = std::max(largest, std::fabs(v));
    }
    EXPECT_LE(largest, 1);
    EXPECT_GT(largest, 0.99);
    EXPECT_LT(std::fabs(sum / elements(w.input)), 0.05);

    double low = 0, high = 0;
    for (const double v : canonical_activation(make_operands(w, Data::wide, 1).first, w.input, {})) {
        ASSERT_GE(std::fabs(v), 0x1p-20);
        ASSERT_LE(std::fabs(v), 0x1p20);
        low += std::fabs(v) < 0x1p-15;
        high += std::fabs(v) > 0x1p15;
    }
    EXPECT_GT(low, 0.08 * elements(w.input));
    EXPECT_GT(high, 0.08 * elements(w.input));
}

TEST(OperandsTest, ResultPositions) {
    struct Row {
        std::function<void(Workload &)> change;
        int64_t index;
        const char *text;
    };
    const Row table[] = {
        {[](Workload &) {}, 0, "output[n=0, h=0, w=0, c=0]"},
        {[](Workload &) {}, 8 * (6 * (5 * 1 + 4) + 3) + 7, "output[n=1, h=4, w=3, c=7]"},
        {[](Workload &w) { w.output_layout.kind = ActivationLayout::Kind::nchw; }, 6 * (5 * 7 + 4) + 3,
         "output[n=0, c=7, h=4, w=3]"},
        {[](Workload &w) {
             w.output_layout = {ActivationLayout::Kind::nchwc, 4};
         },
         4 * (6 * (5 * 1 + 4) + 3) + 2, "output[n=0, c_block=1, h=4, w=3, c=2]"},
        {[](Workload &w) { w.op = Operation::conv_backprop_input; }, 4 * (6 * (5 * 1 + 4) + 3) + 2,
         "dx[n=1, h=4, w=3, c=2]"},
        {[](Workload &w) { w.op = Operation::conv_backprop_kernel; }, 8 * (4 * (3 * 1 + 2) + 3) + 7,
         "dk[kh=1, kw=2, ci=3, co=7]"},
    };
    for (const Row &row : table) {
        Workload w = convolution({2, 5, 6, 4}, {3, 3, 4, 8});
        w.padding = {{1, 1}, {1, 1}};
        row.change(w);
        EXPECT_EQ(result_position(w, row.index), row.text);
    }
}

}  // namespace
}  // namespace kiln
