#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/graph/evaluate/numbers_of.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

Convolution plain(size_t rank) {
    Convolution op;
    op.strides = op.input_dilation = op.dilations = std::vector<int64_t>(rank, 1);
    op.padding.resize(rank);
    return op;
}

TEST(ConvolutionLoops, one_axis) {
    const Numbers x = floats({1, 1, 5}, {1, 2, 3, 4, 5}), w = floats({1, 1, 2}, {10, 1});
    Convolution op = plain(1);
    expect_result(op, {x, w}, floats({1, 1, 4}, {12, 23, 34, 45}));  // no flip
    op.strides = {2};
    expect_result(op, {x, w}, floats({1, 1, 2}, {12, 34}));
    op.padding = {{1, 1}};
    expect_result(op, {x, w}, floats({1, 1, 3}, {1, 23, 45}));
    op.strides = {1};
    expect_result(op, {x, w}, floats({1, 1, 6}, {1, 12, 23, 34, 45, 50}));
    op.dilations = {3};
    expect_result(op, {x, w}, floats({1, 1, 4}, {3, 14, 25, 30}));
    op = plain(1);
    op.input_dilation = {2};  // 1 0 2 0 3 0 4 0 5
    expect_result(op, {x, w}, floats({1, 1, 8}, {10, 2, 20, 3, 30, 4, 40, 5}));
    op.strides = {3};
    expect_result(op, {x, w}, floats({1, 1, 3}, {10, 3, 40}));
    op = plain(1);
    op.padding = {{-1, -2}};  // 2 3
    expect_result(op, {x, w}, floats({1, 1, 1}, {23}));
    op.padding = {{-3, 1}};  // 4 5 0
    expect_result(op, {x, w}, floats({1, 1, 2}, {45, 50}));
    op.padding = {{-3, -2}};  // nothing is left
    expect_result(op, {x, w}, floats({1, 1, 0}, {}));
}

TEST(ConvolutionLoops, channels_and_groups) {
    const Numbers x = floats({1, 4, 1}, {1, 2, 3, 4});
    Convolution op = plain(1);
    expect_result(op, {x, floats({1, 4, 1}, {1, 10, 100, 1000})}, floats({1, 1, 1}, {4321}));
    op.groups = 2;
    expect_result(op, {x, floats({2, 2, 1}, {1, 10, 100, 1000})}, floats({1, 2, 1}, {21, 4300}));
    op.groups = 4;
    expect_result(op, {x, floats({8, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8})},
                  floats({1, 8, 1}, {1, 2, 6, 8, 15, 18, 28, 32}));
    // A channel of nothing: sums are 0.
    expect_result(plain(1), {floats({1, 0, 2}, {}), floats({1, 0, 1}, {})}, floats({1, 1, 2}, {0, 0}));
    expect_result(plain(1), {floats({0, 1, 2}, {}), floats({3, 1, 1}, {1, 2, 3})}, floats({0, 3, 2}, {}));
    expect_result(plain(1), {floats({1, 1, 2}, {1, 2}), floats({0, 1, 1}, {})}, floats({1, 0, 2}, {}));
}

TEST(ConvolutionLoops, prologue) {
    using Kind = EpilogueStep::Kind;
    const Numbers x = floats({1, 2, 2}, {1, -2, 3, 4}), w = floats({1, 2, 2}, {1, 1, 10, 10});
    Convolution op = plain(1);
    op.padding = {{1, 0}};  // which stays zero
    op.epilogue = {{Kind::bias}};
    op.prologue = {{Kind::bias}, {Kind::scale}, {Kind::relu}};
    expect_result(op, {x, w, floats({1}, {0.5}), floats({2}, {1, -3}), floats({2}, {5, 7})},
                  floats({1, 1, 2}, {0.5 + 10, 0.5 + 10 + 70}));
}

// A depthwise convolution with strides, a bias and relu, and one of 1x1: as a graph of both has it.
TEST(ConvolutionLoops, depthwise_in_front) {
    using Kind = EpilogueStep::Kind;
    const Numbers x = floats({1, 2, 4}, {1, -2, 3, 4, 5, 6, -7, 8}), w = floats({2, 2, 1}, {1, 10, -1, 2});
    const Numbers window = floats({2, 1, 3}, {1, 2, 3, -1, 0, 1}), bias = floats({2}, {0.5, -1});
    Convolution op = plain(1);
    op.strides = {2}, op.padding = {{1, 0}};
    op.epilogue = {{Kind::add}};
    op.prologue = {{Kind::bias}, {Kind::relu}};
    op.depthwise = {3};
    const Numbers addend = floats({1, 2, 2}, {100, 200, 300, 400});
    // The sums are -4, 16 and 6, 2; behind bias and relu 0, 16.5 and 5, 1.
    expect_result(op, {x, w, addend, bias, window},
                  floats({1, 2, 2}, {100 + 50, 200 + 16.5 + 10, 300 + 10, 400 - 16.5 + 2}));
}

TEST(ConvolutionLoops, epilogue) {
    using Kind = EpilogueStep::Kind;
    const Numbers x = floats({1, 1, 2}, {1, -2}), w = floats({2, 1, 1}, {1, 10});
    const Numbers bias = floats({2}, {0.5, -1}), addend = floats({1, 2, 2}, {1, 2, 3, 4});
    Convolution op = plain(1);
    op.epilogue = {{Kind::bias}};
    expect_result(op, {x, w, bias}, floats({1, 2, 2}, {1.5, -1.5, 9, -21}));
    op.epilogue = {{Kind::bias}, {Kind::relu}};
    expect_result(op, {x, w, bias}, floats({1, 2, 2}, {1.5, 0, 9, 0}));
    op.epilogue = {{Kind::bias}, {Kind::relu}, {Kind::add}, {Kind::clamp, 2, 6}};
    expect_result(op, {x, w, bias, addend}, floats({1, 2, 2}, {2.5, 2, 6, 4}));
    op.epilogue = {{Kind::add}, {Kind::bias}};
    expect_result(op, {x, w, addend, bias}, floats({1, 2, 2}, {2.5, 0.5, 12, -17}));
    op.epilogue = {{Kind::bias}, {Kind::leaky_relu, 0.25f}, {Kind::add}, {Kind::hard_sigmoid, 0.125f, 0.5f}};
    expect_result(op, {x, w, bias, addend}, floats({1, 2, 2}, {0.8125, 0.703125, 1, 0.34375}));
    op.epilogue = {{Kind::prelu}, {Kind::add}, {Kind::bias}};
    expect_result(op, {x, w, floats({2}, {0.25, -2}), addend, bias}, floats({1, 2, 2}, {2.5, 2, 12, 43}));
    op.epilogue = {{Kind::clamp, -INFINITY, 2}, {Kind::clamp, -3, INFINITY}};
    expect_result(op, {x, w}, floats({1, 2, 2}, {1, -2, 2, -3}));
    op.epilogue = {{Kind::sigmoid}, {Kind::tanh}};
    expect_result(op, {floats({1, 1, 2}, {0, 1}), w},
                  floats({1, 2, 2}, {std::tanh(0.5), std::tanh(1 / (1 + std::exp(-1.0))), std::tanh(0.5),
                                     std::tanh(1 / (1 + std::exp(-10.0)))}));
    op.epilogue = {{Kind::relu}, {Kind::clamp, -1, 1}};
    expect_result(op, {floats({1, 1, 2}, {nan, infinity}), w}, floats({1, 2, 2}, {nan, 1, nan, 1}));
}

// The definition in operator.h, one result after the other.
std::vector<double> by_definition(const Convolution &op, const Numbers &x, const Numbers &w, const Shape &y) {
    const auto &xs = std::get<0>(x.elements), &ws = std::get<0>(w.elements);
    const size_t rank = y.size() - 2;
    const int64_t inputs = w.form.shape[1], outputs = y[1];
    std::vector<double> result(*element_count(y), 0);
    for (size_t at = 0; at < result.size(); at++) {
        Shape p(y.size());
        for (size_t d = y.size(), rest = at; d-- > 0; rest /= y[d]) p[d] = static_cast<int64_t>(rest) % y[d];
        for (size_t tap = 0; tap < ws.size(); tap++) {
            Shape t(y.size());
            for (size_t d = y.size(), rest = tap; d-- > 0; rest /= w.form.shape[d]) {
                t[d] = static_cast<int64_t>(rest) % w.form.shape[d];
            }
            if (t[0] != p[1]) continue;
            int64_t from = p[0] * x.form.shape[1] + p[1] / (outputs / op.groups) * inputs + t[1];
            for (size_t d = 0; d < rank && from >= 0; d++) {
                const int64_t e = p[d + 2] * op.strides[d] + t[d + 2] * op.dilations[d] - op.padding[d].lo;
                const bool is_pixel =
                    e >= 0 && e % op.input_dilation[d] == 0 && e / op.input_dilation[d] < x.form.shape[d + 2];
                from = is_pixel ? from * x.form.shape[d + 2] + e / op.input_dilation[d] : -1;
            }
            if (from >= 0) result[at] += xs[from] * ws[tap];
        }
    }
    return result;
}

TEST(ConvolutionLoops, drawn_cases_follow_the_definition) {
    std::mt19937 random(test_seed());
    const auto draw = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); };
    int computed = 0;
    for (int round = 0; round < 150; round++) {
        const size_t rank = draw(1, 4);
        const int64_t extent = rank < 3 ? 12 : 5;
        Convolution op = plain(rank);
        op.groups = draw(1, 3);
        Shape x{draw(1, 2), op.groups * draw(1, 3)}, w{op.groups * draw(1, 3), x[1] / op.groups};
        for (size_t d = 0; d < rank; d++) {
            const bool is_walked = draw(0, 2) == 0;
            x.push_back(draw(1, extent));
            w.push_back(is_walked ? 1 : draw(1, 3));
            if (is_walked) continue;
            op.strides[d] = draw(1, 4);
            op.input_dilation[d] = draw(1, 4);
            op.dilations[d] = draw(1, 3);
            op.padding[d] = {draw(-3, 4), draw(-3, 4)};
        }
        const Numbers xs = counted(x, -7), ws = counted(w, -3);
        const auto form = result_of(op, {xs.form, ws.form});
        ASSERT_TRUE(form) << form.error().message;
        expect_result(op, {xs, ws}, floats(form->shape, by_definition(op, xs, ws, form->shape)));
        computed += *element_count(form->shape) > 0;
    }
    EXPECT_GT(computed, 75);
}

TEST(ConvolutionLoops, rows_longer_than_a_piece) {
    Convolution op = plain(2);
    op.padding = {{1, 1}, {1, 2}};
    for (int64_t stride : {1, 3}) {
        op.strides[1] = stride;
        for (int64_t dilation : {1, 2}) {
            op.input_dilation[1] = dilation;
            const Numbers x = counted({1, 1, 2, 1700}), w = counted({2, 1, 3, 3});
            const auto form = result_of(op, {x.form, w.form});
            expect_result(op, {x, w}, floats(form->shape, by_definition(op, x, w, form->shape)));
        }
    }
}

TEST(ConvolutionLoops, holes_of_any_size_end) {
    Convolution op = plain(1);
    op.input_dilation = {int64_t{1} << 38};
    expect_result(op, {floats({1, 1, 1}, {3}), floats({1, 1, 1}, {2})}, floats({1, 1, 1}, {6}));
    op.strides = {int64_t{1} << 38};
    expect_result(op, {floats({1, 1, 3}, {3, 4, 5}), floats({1, 1, 1}, {2})}, floats({1, 1, 3}, {6, 8, 10}));
}

TEST(ConvolutionLoops, can_be_interrupted) {
    const Numbers x = counted({1, 1, 8, 8}), w = counted({4, 1, 3, 3});
    int asked = 0;
    const auto result = evaluate(plain(2), {&x, &w}, [&] { return ++asked == 5; });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::interrupted);
}

}  // namespace
}  // namespace kiln::graph
