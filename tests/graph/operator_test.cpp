#include "graph/operator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln::graph {
namespace {

using F = Function;
using Forms = std::vector<TypedShape>;

constexpr int64_t most = INT64_MAX, least = INT64_MIN, large = most_elements;

TypedShape f32(Shape shape) { return {Element::f32, std::move(shape)}; }
TypedShape i64(Shape shape) { return {Element::i64, std::move(shape)}; }
TypedShape boolean(Shape shape) { return {Element::boolean, std::move(shape)}; }

struct Conv {
    std::vector<int64_t> strides{1, 1}, input_dilation{1, 1}, dilations{1, 1};
    std::vector<Padding> padding{{}, {}};
    int64_t groups = 1;
    std::vector<EpilogueStep> epilogue, prologue;
    Shape depthwise;
    operator Operator() const {
        return Convolution{strides, input_dilation, dilations, padding, groups, epilogue, prologue, depthwise};
    }
};

struct Window {
    Pool::Kind kind = Pool::Kind::maximum;
    std::vector<int64_t> window{2, 2}, strides{1, 1}, dilations{1, 1};
    std::vector<Padding> padding{{}, {}};
    std::vector<int64_t> beyond{0, 0};
    bool counts_padding = false;
    operator Operator() const { return Pool{kind, window, strides, dilations, padding, beyond, counts_padding}; }
};

Operator elementwise(Expression expression, Shape shape) {
    return Elementwise{std::move(expression), std::move(shape)};
}
Operator resample(std::vector<Resample::Axis> axes, double fill = 0) { return Resample{std::move(axes), fill}; }

TEST(Operator, forms_of_results) {
    using Kind = EpilogueStep::Kind;
    const Expression sum = apply(F::add, operand(0), operand(1));
    struct Row {
        Operator op;
        Forms inputs;
        TypedShape result;
    };
    const Row rows[] = {
        {Conv{}, {f32({2, 3, 8, 9}), f32({4, 3, 3, 2})}, f32({2, 4, 6, 8})},
        {Conv{.strides = {2, 3}}, {f32({1, 1, 8, 9}), f32({1, 1, 3, 2})}, f32({1, 1, 3, 3})},
        {Conv{.dilations = {2, 3}}, {f32({1, 1, 8, 9}), f32({1, 1, 3, 2})}, f32({1, 1, 4, 6})},
        {Conv{.input_dilation = {2, 3}}, {f32({1, 1, 4, 3}), f32({1, 1, 1, 1})}, f32({1, 1, 7, 7})},
        {Conv{.padding = {{1, 2}, {-1, -2}}}, {f32({1, 1, 4, 4}), f32({1, 1, 1, 1})}, f32({1, 1, 7, 1})},
        {Conv{.padding = {{-9, 0}, {0, 0}}}, {f32({1, 1, 4, 4}), f32({1, 1, 1, 1})}, f32({1, 1, 0, 4})},
        {Conv{}, {f32({1, 1, 2, 2}), f32({1, 1, 3, 3})}, f32({1, 1, 0, 0})},
        {Conv{}, {f32({0, 0, 2, 2}), f32({0, 0, 1, 1})}, f32({0, 0, 2, 2})},
        {Conv{.padding = {{1, 1}, {1, 1}}}, {f32({1, 1, 0, 0}), f32({1, 1, 2, 2})}, f32({1, 1, 1, 1})},
        {Conv{.groups = 3}, {f32({1, 6, 2, 2}), f32({9, 2, 1, 1})}, f32({1, 9, 2, 2})},
        {Conv{.epilogue = {{Kind::bias}, {Kind::relu}, {Kind::add}}},
         {f32({1, 1, 2, 2}), f32({3, 1, 1, 1}), f32({3}), f32({1, 3, 2, 2})},
         f32({1, 3, 2, 2})},
        {Conv{{1}, {1}, {1}, {{}}}, {f32({1, 1, 5}), f32({1, 1, 2})}, f32({1, 1, 4})},
        {Conv{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {{}, {}, {}, {}}},
         {f32({1, 1, 2, 2, 2, 2}), f32({1, 1, 1, 1, 1, 2})},
         f32({1, 1, 2, 2, 2, 1})},
        {Conv{}, {{Element::f16, {1, 1, 2, 2}}, {Element::f16, {1, 1, 1, 1}}}, {Element::f16, {1, 1, 2, 2}}},
        {MatrixProduct{}, {f32({2, 3}), f32({3, 4})}, f32({2, 4})},
        {MatrixProduct{}, {f32({5, 1, 2, 3}), f32({7, 3, 4})}, f32({5, 7, 2, 4})},
        {MatrixProduct{}, {i64({0, 3}), i64({3, 4})}, i64({0, 4})},
        {Window{}, {f32({1, 3, 4, 5})}, f32({1, 3, 3, 4})},
        {Window{.strides = {2, 2}, .padding = {{1, 1}, {0, 0}}, .beyond = {0, 1}},
         {f32({1, 3, 4, 5})},
         f32({1, 3, 3, 3})},
        {Window{}, {{Element::u8, {1, 3, 4, 5}}}, {Element::u8, {1, 3, 3, 4}}},
        {Window{.window = {9, 1}}, {f32({1, 3, 4, 5})}, f32({1, 3, 0, 5})},
        {elementwise(sum, {2, 3}), {f32({3}), f32({2, 1})}, f32({2, 3})},
        {elementwise(sum, {4, 2, 3}), {f32({3}), f32({2, 1})}, f32({4, 2, 3})},
        {elementwise(constant(1), {}), {}, f32({})},
        {elementwise(apply(F::less, operand(1), operand(2)), {2}), {f32({2}), i64({2}), i64({})}, boolean({2})},
        {Reduce{Reduce::Kind::sum, {0, 2}}, {i64({2, 3, 4})}, i64({1, 3, 1})},
        {Reduce{Reduce::Kind::maximum, {1}}, {boolean({2, 0})}, boolean({2, 1})},
        {Reduce{Reduce::Kind::mean, {}}, {f32({})}, f32({})},
        {Normalize{Normalize::Kind::softmax, {1}}, {f32({2, 0})}, f32({2, 0})},
        {resample({{.axis = 1, .indices = {2, -1, 0, 0}}}, 3), {i64({2, 3})}, i64({2, 4})},
        {resample({{.axis = 0, .taps = 2, .indices = {0, 1, 1, 0}, .weights = {1, 0, 0, 1}}}),
         {f32({2, 3})},
         f32({2, 3})},
        {resample({{.axis = 0}}), {f32({2})}, f32({0})},
        {Gather{1}, {f32({2, 3, 4}), i64({5, 6})}, f32({2, 5, 6, 4})},
        {Gather{0}, {boolean({3}), {Element::i32, {}}}, boolean({})},
        {Transpose{{2, 0, 1}}, {boolean({2, 3, 4})}, boolean({4, 2, 3})},
        {Transpose{}, {f32({})}, f32({})},
        {Reshape{{6}}, {f32({2, 3})}, f32({6})},
        {Reshape{{0, 7}}, {f32({2, 0})}, f32({0, 7})},
        {Reshape{{}}, {f32({1, 1})}, f32({})},
        {Concat{1}, {i64({2, 3}), i64({2, 0}), i64({2, 1})}, i64({2, 4})},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(to_text(row.op));
        const auto result = result_of(row.op, row.inputs);
        ASSERT_TRUE(result) << result.error().message;
        EXPECT_EQ(result->type, row.result.type);
        EXPECT_EQ(to_text(result->shape), to_text(row.result.shape));
    }
}

TEST(Operator, what_convolutions_and_pools_refuse) {
    using Kind = EpilogueStep::Kind;
    const TypedShape x = f32({1, 4, 8, 8}), w = f32({4, 4, 3, 3});
    struct Row {
        Operator op;
        Forms inputs;
        const char *part;
    };
    const Row rows[] = {
        {Conv{}, {}, "needs an input and weights"},
        {Conv{}, {x}, "needs an input and weights"},
        {Conv{}, {x, w, f32({4})}, "3 inputs instead of 2"},
        {Conv{}, {x, {Element::f16, w.shape}}, "f32 and f16"},
        {Conv{}, {i64(x.shape), i64(w.shape)}, "of i64"},
        {Conv{}, {f32({1, 4}), f32({4, 4})}, "an input of shape 1x4"},
        {Conv{}, {x, f32({4, 4, 3})}, "weights of shape 4x4x3"},
        {Conv{.strides = {1}}, {x, w}, "strides have 1 entries for 2 spatial axes"},
        {Conv{.input_dilation = {}}, {x, w}, "input dilations have 0"},
        {Conv{.dilations = {1, 1, 1}}, {x, w}, "dilations have 3"},
        {Conv{.padding = {{}}}, {x, w}, "padding have 1"},
        {Conv{.strides = {0, 1}}, {x, w}, "are 1 to 2^40"},
        {Conv{.strides = {-1, 1}}, {x, w}, "are 1 to 2^40"},
        {Conv{.dilations = {0, 1}}, {x, w}, "are 1 to 2^40"},
        {Conv{.input_dilation = {1, least}}, {x, w}, "are 1 to 2^40"},
        {Conv{.strides = {1, most}}, {x, w}, "are 1 to 2^40"},
        {Conv{.dilations = {most, 1}}, {x, w}, "are 1 to 2^40"},
        {Conv{.dilations = {large, 1}}, {x, w}, "longer than 2^40"},
        {Conv{.input_dilation = {large, 1}}, {x, w}, "longer than 2^40"},
        {Conv{.padding = {{most, 1}, {}}}, {x, w}, "padding of 9223372036854775807"},
        {Conv{.padding = {{least, 1}, {}}}, {x, w}, "padding of -9223372036854775808"},
        {Conv{.padding = {{large, large}, {}}}, {x, w}, "longer than 2^40"},
        {Conv{.padding = {{large / 2, 0}, {large / 2, 0}}}, {x, w}, "more than 2^40 elements"},
        {Conv{}, {x, f32({4, 4, 0, 3})}, "are 1 to 2^40"},
        {Conv{}, {x, f32({4, 3, 3, 3})}, "in 1 group for an input"},
        {Conv{.groups = 0}, {x, w}, "0 groups"},
        {Conv{.groups = least}, {x, w}, "groups"},
        {Conv{.groups = 3}, {x, f32({3, 1, 3, 3})}, "in 3 groups for an input"},
        {Conv{.groups = 2}, {x, f32({3, 2, 3, 3})}, "in 2 groups for an input"},
        {Conv{.groups = most}, {f32({1, 0, 8, 8}), f32({1, 0, 1, 1})}, "groups for an input"},
        {Conv{.epilogue = {{Kind::bias}}}, {x, w}, "is missing"},
        {Conv{.epilogue = {{Kind::bias}}}, {x, w, f32({3})}, "epilogue's bias has shape 3; needs 4"},
        {Conv{.epilogue = {{Kind::bias}}}, {x, w, f32({1, 4})}, "epilogue's bias has shape 1x4; needs 4"},
        {Conv{.epilogue = {{Kind::add}}}, {x, w, f32({4})}, "epilogue's add has shape 4; needs 1x4x6x6"},
        {Conv{.epilogue = {{Kind::prelu}}}, {x, w}, "is missing"},
        {Conv{.epilogue = {{Kind::prelu}}}, {x, w, f32({1, 4, 6, 6})}, "epilogue's prelu has shape 1x4x6x6; needs 4"},
        {Conv{.epilogue = {{Kind::relu}}}, {x, w, f32({4})}, "3 inputs instead of 2"},
        {Conv{.prologue = {{Kind::scale}}}, {x, w}, "is missing"},
        {Conv{.prologue = {{Kind::scale}}}, {x, f32({6, 4, 3, 3}), f32({6})}, "prologue's scale has shape 6; needs 4"},
        {Conv{.prologue = {{Kind::add}}}, {x, w, x}, "its prologue has `add`"},
        {Conv{.prologue = {{Kind::prelu}}}, {x, w, f32({4})}, "its prologue has `prelu`"},
        {Conv{.depthwise = {3, 3}}, {x, f32({6, 4, 1, 1})}, "its depthwise weights are missing"},
        {Conv{.depthwise = {3, 3}},
         {x, f32({6, 4, 1, 1}), f32({6, 1, 3, 3})},
         "weights have shape 6x1x3x3; needs 4x1x3x3"},
        {Conv{.depthwise = {3}}, {x, f32({6, 4, 1, 1}), f32({4, 1, 3})}, "depthwise extents have 1 entries"},
        {Conv{.depthwise = {3, 3}},
         {x, w, f32({4, 1, 3, 3})},
         "an input dilation or a window: weights of shape 4x4x3x3"},
        {Conv{.input_dilation = {2, 1}, .depthwise = {3, 3}},
         {x, f32({6, 4, 1, 1}), f32({4, 1, 3, 3})},
         "input dilation"},
        {Conv{.depthwise = {most, 3}}, {x, f32({6, 4, 1, 1}), f32({4, 1, 3, 3})}, "are 1 to 2^40"},
        {Conv{}, {f32({-1, 4, 8, 8}), w}, "negative extent"},
        {Conv{}, {f32({large, 4, 8, 8}), w}, "more than 2^40"},
        {Window{}, {x, x}, "2 inputs instead of 1"},
        {Window{}, {boolean(x.shape)}, "of bool"},
        {Window{.kind = Pool::Kind::average}, {i64(x.shape)}, "of i64"},
        {Window{}, {f32({1, 4})}, "an input of shape 1x4"},
        {Window{.window = {2}}, {x}, "windows have 1"},
        {Window{.beyond = {}}, {x}, "beyond the padding have 0"},
        {Window{.window = {0, 1}}, {x}, "are 1 to 2^40"},
        {Window{.window = {most, 1}, .dilations = {most, 1}}, {x}, "are 1 to 2^40"},
        {Window{.window = {large, 1}, .dilations = {2, 1}}, {x}, "longer than 2^40"},
        {Window{.padding = {{-1, 0}, {}}}, {x}, "padding is negative"},
        {Window{.beyond = {least, 0}}, {x}, "padding is negative"},
        {Window{.beyond = {most, 0}}, {x}, "padding of"},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(to_text(row.op));
        const auto result = result_of(row.op, row.inputs);
        ASSERT_FALSE(result) << row.part;
        EXPECT_NE(result.error().message.find(row.part), std::string::npos) << result.error().message;
    }
}

TEST(Operator, what_others_refuse) {
    const TypedShape x = f32({2, 3});
    const Expression sum = apply(F::add, operand(0), operand(1));
    struct Row {
        Operator op;
        Forms inputs;
        const char *part;
    };
    const Row rows[] = {
        {MatrixProduct{}, {x}, "1 inputs instead of 2"},
        {Gather{0}, {x}, "1 inputs instead of 2"},
        {Gather{2}, {x, i64({1})}, "axis 2 of an input of shape 2x3"},
        {Gather{0}, {x, f32({1})}, "indices of type f32"},
        {Gather{0}, {x, boolean({1})}, "indices of type bool"},
        {Gather{0}, {f32({2, large}), i64({large})}, "more than 2^40"},
        {MatrixProduct{}, {x, x}, "of shapes 2x3 and 2x3"},
        {MatrixProduct{}, {x, f32({3})}, "of shapes 2x3 and 3"},
        {MatrixProduct{}, {x, i64({3, 2})}, "f32 and i64"},
        {MatrixProduct{}, {boolean({1, 1}), boolean({1, 1})}, "of bool"},
        {MatrixProduct{}, {f32({2, 1, 1}), f32({3, 1, 1})}, "cannot be broadcast"},
        {MatrixProduct{}, {f32({large, 1}), f32({1, large})}, "more than 2^40"},
        {elementwise(sum, {2, 3}), {x}, "no such operand"},
        {elementwise(sum, {2, 3}), {x, i64({3})}, "f32 and i64"},
        {elementwise(sum, {3}), {x, x}, "an input of shape 2x3 for a result of shape 3"},
        {elementwise(sum, {2, 1}), {x, x}, "an input of shape 2x3 for a result of shape 2x1"},
        {elementwise(sum, {2, 4}), {x, x}, "an input of shape 2x3"},
        {elementwise(operand(0), {-1}), {f32({})}, "negative extent"},
        {elementwise(operand(0), {large, 2}), {f32({})}, "more than 2^40"},
        {elementwise(operand(0), Shape(100, 1)), {f32({})}, "100 axes"},
        {elementwise({}, {2, 3}), {x}, "leaves 0 values"},
        {Reduce{Reduce::Kind::sum, {2}}, {x}, "axis 2 of an input of shape 2x3"},
        {Reduce{Reduce::Kind::sum, {-1}}, {x}, "axis -1"},
        {Reduce{Reduce::Kind::sum, {0}}, {f32({})}, "axis 0 of an input of shape scalar"},
        {Reduce{Reduce::Kind::sum, {1, 0}}, {x}, "not ascending"},
        {Reduce{Reduce::Kind::sum, {1, 1}}, {x}, "not ascending"},
        {Reduce{Reduce::Kind::sum, {}}, {boolean({2})}, "of bool"},
        {Reduce{Reduce::Kind::mean, {}}, {i64({2})}, "of i64"},
        {Normalize{Normalize::Kind::softmax, {2}}, {x}, "axis 2"},
        {Normalize{Normalize::Kind::softmax, {0}}, {i64({2})}, "of i64"},
        {Normalize{}, {}, "0 inputs"},
        {resample({{.axis = 2, .indices = {0}}}), {x}, "axis 2"},
        {resample({{.axis = 1, .indices = {0}}, {.axis = 0, .indices = {0}}}), {x}, "not ascending"},
        {resample({{.axis = 0, .indices = {2}}}), {x}, "index 2 of an extent of 2"},
        {resample({{.axis = 0, .indices = {-2}}}), {x}, "index -2 of an extent of 2"},
        {resample({{.axis = 0, .indices = {0}}}), {f32({0})}, "index 0 of an extent of 0"},
        {resample({{.axis = 0, .taps = 0, .indices = {0}}}), {x}, "0 taps"},
        {resample({{.axis = 0, .taps = 2, .indices = {0, 1, 0}}}), {x}, "3 indices in groups of 2"},
        {resample({{.axis = 0, .taps = 2, .indices = {0, 1}}}), {x}, "0 weights for 2 indices"},
        {resample({{.axis = 0, .indices = {0, 1}, .weights = {1}}}), {x}, "1 weights for 2 indices"},
        {resample({{.axis = 0, .indices = {0}, .weights = {NAN}}}), {x}, "not finite"},
        {resample({{.axis = 0, .indices = {0}, .weights = {1}}}), {i64({2})}, "weights for i64"},
        {resample({{.axis = 0, .indices = {-1}}}, 0.5), {i64({2})}, "no number of i64"},
        {resample({{.axis = 0, .indices = {0, 0}}}), {f32({1, large})}, "more than 2^40"},
        {resample({{.axis = 0, .indices = {0, 0}}, {.axis = 1, .indices = {0}}}), {f32({1, large})}, "more than 2^40"},
        {Transpose{{0}}, {x}, "no permutation"},
        {Transpose{{0, 0}}, {x}, "no permutation"},
        {Transpose{{0, 2}}, {x}, "no permutation"},
        {Transpose{{-1, 0}}, {x}, "no permutation"},
        {Reshape{{7}}, {x}, "has 6 elements, 7 has 7"},
        {Reshape{{-6}}, {x}, "negative extent"},
        {Reshape{{most, most}}, {x}, "more than 2^40"},
        {Concat{0}, {}, "no inputs"},
        {Concat{0}, {f32({})}, "axis 0 of an input of shape scalar"},
        {Concat{2}, {x, x}, "axis 2"},
        {Concat{-1}, {x, x}, "axis -1"},
        {Concat{0}, {x, f32({2, 4})}, "shapes 2x3 and 2x4 along axis 0"},
        {Concat{0}, {x, f32({2, 3, 1})}, "shapes 2x3 and 2x3x1"},
        {Concat{0}, {x, i64({2, 3})}, "f32 and i64"},
        {Concat{0}, {f32({large}), f32({large})}, "longer than 2^40"},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(to_text(row.op));
        const auto result = result_of(row.op, row.inputs);
        ASSERT_FALSE(result) << row.part;
        EXPECT_NE(result.error().message.find(row.part), std::string::npos) << result.error().message;
        EXPECT_EQ(result.error().message.find(std::string(name(row.op)) + ": "), 0u) << result.error().message;
    }
}

TEST(Operator, text) {
    const std::pair<Operator, const char *> rows[] = {
        {Conv{}, "convolution"},
        {Conv{{2, 1},
              {1, 3},
              {2, 2},
              {{1, 0}, {-1, 2}},
              8,
              {{EpilogueStep::Kind::bias}, {EpilogueStep::Kind::clamp, 0, 6}}},
         "convolution strides=2x1 input_dilation=1x3 dilations=2x2 padding=1,0x-1,2 groups=8 epilogue=bias,clamp:0:6"},
        {MatrixProduct{}, "matrix_product"},
        {Window{}, "maximum_pool window=2x2"},
        {Window{Pool::Kind::average, {3, 3}, {2, 2}, {1, 1}, {{1, 1}, {1, 1}}, {0, 1}, true},
         "average_pool window=3x3 strides=2x2 padding=1,1x1,1 beyond=0x1 counts_padding"},
        {elementwise(apply(F::maximum, operand(0), constant(0)), {2, 3}), "elementwise max(x0,0) shape=2x3"},
        {Reduce{Reduce::Kind::mean, {2, 3}}, "mean axes=2,3"},
        {Normalize{Normalize::Kind::mean_variance, {1}, 1e-5}, "mean_variance axes=1 epsilon=1e-05"},
        {Normalize{Normalize::Kind::log_softmax, {0}}, "log_softmax axes=0"},
        {resample({{.axis = 1, .indices = {-1, -1, 0, 1, 2, -1}}}, 7), "resample axis1=[-*2 0..2 -] fill=7"},
        {resample({{.axis = 0, .indices = {-1, 0}}}, -0.0), "resample axis0=[- 0] fill=-0"},
        {resample({{.axis = 0, .indices = {6, 4, 2, 0}}, {.axis = 2, .indices = {3, 3, 5}}}),
         "resample axis0=[6..0/-2] axis2=[3*2 5]"},
        {resample({{.axis = 0, .taps = 2, .indices = {0, 1, 1, 2}, .weights = {.5, .5, .5, .5}}}),
         "resample axis0=[2 of 2 taps]"},
        {resample({{.axis = 0, .indices = {}}}), "resample axis0=[]"},
        {resample({{.axis = 0, .indices = {0, 9, 1, 8, 2, 7, 3, 6, 4, 5, 3, 6, 4, 5}}}),
         "resample axis0=[0..9/9 1..8/7 2..7/5 3..6/3 4..5 3..6/3 ...]"},
        {Transpose{{0, 2, 1}}, "transpose permutation=0,2,1"},
        {Reshape{{1, -1}}, "reshape shape=1x-1"},
        {Concat{3}, "concat axis=3"},
    };
    for (const auto &[op, text] : rows) EXPECT_EQ(to_text(op), text);
}

}  // namespace
}  // namespace kiln::graph
