// DeformConv beside plain loops.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/graph/lower/built_model.h"
#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

struct Deformed {
    Shape x, w;
    int64_t groups = 1, offset_groups = 1;
    bool has_mask = false, has_bias = false;
    std::vector<int64_t> strides{1, 1}, pads{0, 0, 0, 0}, dilations{1, 1};

    int64_t taps() const { return w[2] * w[3]; }
    int64_t windows(size_t d) const {
        return (x[d + 2] + pads[d] + pads[d + 2] - (w[d + 2] - 1) * dilations[d] - 1) / strides[d] + 1;
    }
    Shape operand_shape(int64_t numbers) const {
        return {x[0], offset_groups * taps() * numbers, windows(0), windows(1)};
    }
};

// Multiples of 1 / `parts`, between -11 and 11 of them.
Numbers scattered(const Shape &shape, int64_t seed, double parts) {
    Numbers numbers = counted(shape);
    int64_t i = seed;
    for (double &number : std::get<0>(numbers.elements)) number = double(i++ * 7919 % 23 - 11) / parts;
    return numbers;
}

double element(const Numbers &numbers, int64_t a, int64_t b, int64_t c, int64_t d) {
    const Shape &shape = numbers.form.shape;
    return std::get<0>(numbers.elements)[static_cast<size_t>(((a * shape[1] + b) * shape[2] + c) * shape[3] + d)];
}

double between_pixels(const Numbers &x, int64_t n, int64_t c, double row, double column) {
    const auto top = static_cast<int64_t>(std::floor(row)), left = static_cast<int64_t>(std::floor(column));
    double sum = 0;
    for (int64_t h = top; h <= top + 1; h++) {
        for (int64_t w = left; w <= left + 1; w++) {
            if (h < 0 || h >= x.form.shape[2] || w < 0 || w >= x.form.shape[3]) continue;
            sum += (1 - std::abs(row - double(h))) * (1 - std::abs(column - double(w))) * element(x, n, c, h, w);
        }
    }
    return sum;
}

struct Operands {
    Numbers x, w, offset, bias, mask;
};

double deformed_sum(const Deformed &row, const Operands &in, int64_t n, int64_t o, int64_t i, int64_t j) {
    const int64_t channels_of_group = row.w[1], first = o / (row.w[0] / row.groups) * channels_of_group;
    double sum = row.has_bias ? std::get<0>(in.bias.elements)[static_cast<size_t>(o)] : 0;
    for (int64_t c = 0; c < channels_of_group; c++) {
        const int64_t offset_group = (first + c) / (row.x[1] / row.offset_groups);
        for (int64_t kh = 0; kh < row.w[2]; kh++) {
            for (int64_t kw = 0; kw < row.w[3]; kw++) {
                const int64_t tap = offset_group * row.taps() + kh * row.w[3] + kw;
                const double h = double(i * row.strides[0] - row.pads[0] + kh * row.dilations[0]) +
                                 element(in.offset, n, 2 * tap, i, j);
                const double w = double(j * row.strides[1] - row.pads[1] + kw * row.dilations[1]) +
                                 element(in.offset, n, 2 * tap + 1, i, j);
                const double mask = row.has_mask ? element(in.mask, n, tap, i, j) : 1;
                sum += element(in.w, o, c, kh, kw) * mask * between_pixels(in.x, n, first + c, h, w);
            }
        }
    }
    return sum;
}

BuiltModel deforming(const Deformed &row, const Operands &in, int64_t opset) {
    BuiltModel model(opset);
    model.input("x", row.x).input("offset", in.offset.form.shape).constant("w", in.w);
    if (row.has_bias) model.constant("bias", in.bias);
    if (row.has_mask) model.input("mask", in.mask.form.shape);
    std::vector<std::string> inputs{"x", "w", "offset", row.has_bias ? "bias" : "", row.has_mask ? "mask" : ""};
    while (inputs.back().empty()) inputs.pop_back();
    model.node("DeformConv", inputs, {"y"},
               {integers("strides", row.strides), integers("pads", row.pads), integers("dilations", row.dilations),
                integer("group", row.groups), integer("offset_group", row.offset_groups)});
    return model.output("y");
}

TEST(DeformConv, BesidePlainLoops) {
    const Deformed rows[] = {
        {.x = {1, 1, 4, 5}, .w = {1, 1, 2, 3}},
        {.x = {1, 3, 5, 5}, .w = {2, 3, 3, 3}, .has_bias = true, .pads = {1, 1, 1, 1}},
        {.x = {2, 3, 5, 4}, .w = {2, 3, 2, 2}, .has_mask = true, .strides = {2, 1}},
        {.x = {1, 4, 6, 5}, .w = {2, 4, 3, 2}, .offset_groups = 2, .has_mask = true, .pads = {2, 0, 1, 1}},
        {.x = {1, 4, 5, 7}, .w = {4, 2, 2, 3}, .groups = 2, .has_bias = true, .strides = {1, 3}, .dilations = {2, 1}},
        // Offset groups inside of groups, across them, and around them.
        {.x = {2, 8, 4, 4}, .w = {4, 4, 2, 2}, .groups = 2, .offset_groups = 4, .has_mask = true},
        {.x = {2, 6, 4, 4}, .w = {6, 2, 2, 2}, .groups = 3, .offset_groups = 2, .has_mask = true, .has_bias = true},
        {.x = {1, 8, 4, 4}, .w = {8, 2, 2, 1}, .groups = 4, .offset_groups = 2},
        // Depthwise ones, and windows of one pixel, over an image of one.
        {.x = {1, 3, 4, 4}, .w = {3, 1, 3, 3}, .groups = 3, .has_mask = true, .pads = {1, 1, 1, 1}},
        {.x = {1, 3, 4, 4}, .w = {6, 1, 2, 2}, .groups = 3, .offset_groups = 3},
        {.x = {2, 2, 1, 1}, .w = {3, 2, 1, 1}},
    };
    for (const Deformed &row : rows) {
        for (const int64_t opset : {19, 22}) {
            SCOPED_TRACE(to_text(row.x) + " by " + to_text(row.w) + " groups " + std::to_string(row.groups) + " and " +
                         std::to_string(row.offset_groups));
            const Operands in{scattered(row.x, 3, 1), scattered(row.w, 5, 4), scattered(row.operand_shape(2), 1, 8),
                              scattered({row.w[0]}, 7, 2), scattered(row.operand_shape(1), 2, 4)};
            std::vector<double> expected;
            for (int64_t n = 0; n < row.x[0]; n++) {
                for (int64_t o = 0; o < row.w[0]; o++) {
                    for (int64_t i = 0; i < row.windows(0); i++) {
                        for (int64_t j = 0; j < row.windows(1); j++)
                            expected.push_back(deformed_sum(row, in, n, o, i, j));
                    }
                }
            }
            std::vector<Numbers> inputs{in.x, in.offset};
            if (row.has_mask) inputs.push_back(in.mask);
            expect_result_of(deforming(row, in, opset), inputs,
                             floats({row.x[0], row.w[0], row.windows(0), row.windows(1)}, expected), 1e-5);
        }
    }
}

// No image, or a kernel that is larger than the image, gives a result without elements.
TEST(DeformConv, OfNoWindows) {
    for (const Deformed &row : {Deformed{.x = {0, 2, 4, 4}, .w = {3, 2, 2, 2}, .has_mask = true},
                                Deformed{.x = {1, 2, 4, 4}, .w = {3, 2, 5, 5}, .has_bias = true}}) {
        const Operands in{counted(row.x), counted(row.w), counted(row.operand_shape(2)), counted({row.w[0]}),
                          counted(row.operand_shape(1))};
        std::vector<Numbers> inputs{in.x, in.offset};
        if (row.has_mask) inputs.push_back(in.mask);
        expect_result_of(deforming(row, in, 19), inputs,
                         floats({row.x[0], row.w[0], row.windows(0), row.windows(1)}, {}));
    }
}

// Numbers of onnxruntime 1.31 and of onnx's reference. Weights may be computed, too.
TEST(DeformConv, AsOthersComputeIt) {
    std::vector<double> offset(48), mask(24, 1);
    const auto place = [](size_t channel, size_t i, size_t j) { return (channel * 2 + i) * 3 + j; };
    offset[place(0, 0, 0)] = 0.5;
    offset[place(3, 0, 1)] = -0.25;
    offset[place(4, 1, 2)] = 1.5;
    offset[place(7, 1, 1)] = -3;
    offset[place(6, 0, 2)] = 0.75;
    mask[place(2, 0, 0)] = 2;
    mask[place(1, 1, 1)] = 0.5;
    for (size_t i = place(3, 0, 0); i < place(4, 0, 0); i++) mask[i] = -1;
    BuiltModel model(19);
    model.input("x", {1, 2, 3, 3}).input("w", {1, 2, 2, 1}).input("offset", {1, 8, 2, 3});
    model.constant("bias", line({10})).constant("mask", floats({1, 4, 2, 3}, mask));
    model.node("DeformConv", {"x", "w", "offset", "bias", "mask"}, {"y"}, {integer("offset_group", 2)}).output("y");
    expect_result_of(model, {counted({1, 2, 3, 3}), floats({1, 2, 2, 1}, {1, 2, -1, 3}), floats({1, 8, 2, 3}, offset)},
                     floats({1, 1, 2, 3}, {-38.5, -31.5, -38.75, -33, 9, -29}));
}

// As many channels as share offsets and a group are one vector of a gather.
TEST(DeformConv, BecomesAConvolutionOfWindowsOfOnePixel) {
    const Deformed row{.x = {1, 4, 5, 5}, .w = {2, 4, 3, 3}};
    const Operands in{scattered(row.x, 0, 1), scattered(row.w, 0, 1), scattered(row.operand_shape(2), 0, 1), {}, {}};
    const auto graph = deforming(row, in, 19).lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    int64_t gathers = 0;
    for (const Node &node : graph->nodes) {
        if (std::holds_alternative<Gather>(node.op)) {
            gathers++;
            EXPECT_EQ(to_text(graph->values[node.output].form.shape), "81x4");  // 9 windows of 9 taps
        }
        if (std::holds_alternative<Convolution>(node.op)) {
            EXPECT_EQ(to_text(graph->values[node.inputs[0]].form.shape), "1x36x3x3");
        }
    }
    EXPECT_EQ(gathers, 4);
}

TEST(DeformConv, WhatItRefuses) {
    const auto model = [](const Shape &x, const Shape &w, const Shape &offset, std::vector<onnx::Attribute> attributes,
                          const Shape &mask = {}) {
        BuiltModel built(19);
        built.input("x", x).input("w", w).input("offset", offset);
        if (!mask.empty()) built.input("mask", mask);
        const std::string name = mask.empty() ? "" : "mask";
        return built.node("DeformConv", {"x", "w", "offset", "", name}, {"y"}, std::move(attributes)).output("y");
    };
    const struct {
        BuiltModel model;
        ErrorCode code;
        const char *message;
    } rows[] = {
        {model({1, 2, 4}, {2, 2, 2}, {1, 2, 3}, {}), ErrorCode::unsupported,
         "its input has 3 axes, its offset 3; kiln deforms windows over images, N, C, H, W"},
        {model({1, 2, 4, 4}, {2, 2, 2, 2}, {1, 4, 3, 3}, {}), ErrorCode::bad_input,
         "its offset of shape 1x4x3x3 does not fit 1 images, 1 offset groups of 4 taps and 3x3 windows"},
        {model({1, 2, 4, 4}, {2, 2, 2, 2}, {1, 8, 4, 3}, {}), ErrorCode::bad_input,
         "its offset of shape 1x8x4x3 has not 3 windows along spatial axis 0"},
        {model({1, 2, 4, 4}, {2, 1, 2, 2}, {1, 8, 3, 3}, {}), ErrorCode::bad_input,
         "its input has 2 channels, its weights 1 in each of 1 groups"},
        {model({1, 2, 4, 4}, {2, 2, 2, 2}, {1, 24, 3, 3}, {integer("offset_group", 3)}), ErrorCode::bad_input,
         "its attribute 'offset_group' is 3, which does not divide 2 channels"},
        {model({1, 2, 4, 4}, {2, 2, 2, 2}, {1, 8, 3, 3}, {}, {1, 8, 3, 3}), ErrorCode::bad_input,
         "its mask of shape 1x8x3x3 does not fit"},
        {model({1, 2, 4, 4}, {2, 2, 2, 2}, {1, 8, 3, 3}, {integer("group", 0)}), ErrorCode::bad_input,
         "in each of 0 groups"},
        {model({1, 2, 0, 4}, {2, 2, 2, 2}, {1, 8, 1, 3}, {integers("pads", {1, 0, 1, 0})}), ErrorCode::bad_input,
         "its images have no pixels"},
    };
    for (const auto &row : rows) expect_refused(row.model, row.code, row.message);
}

}  // namespace
}  // namespace kiln::graph
