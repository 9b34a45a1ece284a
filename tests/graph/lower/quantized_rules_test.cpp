// Operators of quantized values.
#include <algorithm>

#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

// Of onnxruntime, for rows of 60: windows that hang over the end are divided by their whole size where padding counts.
TEST(QuantizedRules, AveragesOfWindowsOverTheEnd) {
    struct Row {
        int64_t extent, window, stride, before, behind, counts_padding;
        std::vector<int64_t> averages;
    };
    const std::vector<Row> rows{
        {5, 2, 2, 0, 0, 0, {60, 60, 60}},     {5, 2, 2, 0, 0, 1, {60, 60, 30}}, {5, 3, 2, 0, 1, 0, {60, 60, 60}},
        {5, 3, 2, 0, 1, 1, {60, 60, 20}},     {5, 4, 2, 1, 1, 1, {45, 60, 30}}, {6, 3, 3, 1, 0, 1, {40, 60, 20}},
        {6, 4, 3, 1, 1, 1, {45, 60, 15}},     {7, 2, 3, 0, 0, 1, {60, 60, 30}}, {7, 3, 3, 0, 0, 1, {60, 60, 20}},
        {7, 4, 2, 1, 1, 1, {45, 60, 60, 30}}, {7, 4, 3, 0, 1, 1, {60, 60, 15}},
    };
    for (const Row &row : rows) {
        const auto numbers = [](std::vector<int64_t> elements) {
            const Shape shape{1, 1, static_cast<int64_t>(elements.size())};
            return whole(shape, std::move(elements), Element::u8);
        };
        expect_outputs({"QLinearAveragePool",
                        1,
                        {integers("kernel_shape", {row.window}), integers("strides", {row.stride}),
                         integers("pads", {row.before, row.behind}), integer("ceil_mode", 1),
                         integer("count_include_pad", row.counts_padding)},
                        {numbers(std::vector<int64_t>(static_cast<size_t>(row.extent), 60)), floats({}, {1}), none,
                         floats({}, {1}), none},
                        {numbers(row.averages)},
                        "com.microsoft"});
    }
}

TEST(QuantizedRules, NumbersAndSums) {
    const auto scalar = [](double number) { return floats({}, {number}); };
    const auto i8 = [](std::vector<int64_t> elements) {
        const Shape shape{static_cast<int64_t>(elements.size())};
        return whole(shape, std::move(elements), Element::i8);
    };
    const auto u8 = [](std::vector<int64_t> elements) {
        const Shape shape{static_cast<int64_t>(elements.size())};
        return whole(shape, std::move(elements), Element::u8);
    };
    const std::vector<RuleCase> rows{
        // Halves go to the even, and ends are those of the type.
        {"QuantizeLinear", 13, {}, {line({1, 3, -1, 1000, -1000}), scalar(2)}, {u8({0, 2, 0, 255, 0})}},
        {"QuantizeLinear",
         13,
         {},
         {line({1, 3, 1000, -1000}), scalar(2), whole({}, {-3}, Element::i8)},
         {i8({-3, -1, 127, -128})}},
        {"QuantizeLinear", 21, {integer("output_dtype", 3)}, {line({3, -400}), scalar(2)}, {i8({2, -128})}},
        {"QuantizeLinear",
         21,
         {integer("axis", 0), integer("block_size", 2)},
         {line({2, 2, 2}), line({1, 2})},
         {u8({2, 2, 1})}},
        {"DequantizeLinear", 10, {}, {u8({0, 255}), scalar(0.5), whole({}, {128}, Element::u8)}, {line({-64, 63.5})}},
        {"DequantizeLinear",
         13,
         {integer("axis", -1)},
         {whole({2, 2}, {1, 2, 3, 4}, Element::i8), line({1, 0.5}), i8({0, 2})},
         {floats({2, 2}, {1, 0, 3, 1})}},
        {"DequantizeLinear", 13, {}, {whole({2}, {-5, 1 << 20}, Element::i32), scalar(2)}, {line({-10, 1 << 21})}},
        {"DequantizeLinear", 1, {}, {u8({3}), scalar(2)}, {line({6})}, "com.microsoft"},
        {"DynamicQuantizeLinear",
         11,
         {},
         {line({0, 2, -3, -2.4, 1.34, 0.5})},
         {u8({153, 255, 0, 31, 221, 179}), scalar(0.0196078438), whole({}, {153}, Element::u8)}},
        {"DynamicQuantizeLinear", 11, {}, {line({0, 0})}, {u8({0, 0}), scalar(1), whole({}, {0}, Element::u8)}},
        {"MatMulInteger",
         10,
         {},
         {whole({1, 2}, {5, 7}, Element::u8), whole({2, 1}, {-1, 2}, Element::i8), whole({}, {4}, Element::u8)},
         {whole({1, 1}, {5}, Element::i32)}},
        // A zero point for each row and one for each column.
        {"MatMulInteger",
         10,
         {},
         {whole({2, 1}, {5, 7}, Element::u8), whole({1, 2}, {3, 4}, Element::u8), u8({1, 2}), u8({1, 2})},
         {whole({2, 2}, {8, 8, 10, 10}, Element::i32)}},
        // Padding is the zero point.
        {"ConvInteger",
         10,
         {integers("pads", {1, 0})},
         {whole({1, 1, 2}, {5, 7}, Element::u8), whole({1, 1, 2}, {1, 2}, Element::i8), whole({}, {3}, Element::u8)},
         {whole({1, 1, 2}, {4, 10}, Element::i32)}},
        {"QLinearConv",
         10,
         {},
         {whole({1, 1, 2}, {5, 7}, Element::u8), scalar(0.5), whole({}, {3}, Element::u8),
          whole({2, 1, 1}, {3, -3}, Element::i8), line({0.5, 1}), whole({}, {0}, Element::i8), scalar(1),
          whole({}, {10}, Element::u8), whole({2}, {0, 100}, Element::i32)},
         {whole({1, 2, 2}, {12, 13, 57, 54}, Element::u8)}},
        {"QLinearConv",
         1,
         {integer("channels_last", 1)},
         {whole({1, 2, 1}, {5, 7}, Element::u8), scalar(0.5), whole({}, {3}, Element::u8),
          whole({2, 1, 1}, {3, -3}, Element::i8), line({0.5, 1}), whole({}, {0}, Element::i8), scalar(1),
          whole({}, {10}, Element::u8), whole({2}, {0, 100}, Element::i32)},
         {whole({1, 2, 2}, {12, 57, 13, 54}, Element::u8)},
         "com.microsoft"},
        {"QLinearMatMul",
         10,
         {},
         {whole({1, 2}, {5, 7}, Element::u8), scalar(0.5), whole({}, {3}, Element::u8),
          whole({2, 1}, {3, 1}, Element::u8), scalar(0.5), whole({}, {2}, Element::u8), scalar(0.5),
          whole({}, {1}, Element::u8)},
         {whole({1, 1}, {0}, Element::u8)}},
        // 5 * 3 + 7 * 1 less zero points, and 4, in units of 2 * 0.5 * 0.25.
        {"QGemm",
         1,
         {real("alpha", 2), integer("transB", 1)},
         {whole({1, 2}, {5, 7}, Element::u8), scalar(0.5), whole({}, {3}, Element::u8),
          whole({1, 2}, {3, 1}, Element::i8), scalar(0.25), whole({}, {0}, Element::i8), whole({1}, {4}, Element::i32),
          scalar(0.5), whole({}, {10}, Element::u8)},
         {whole({1, 1}, {17}, Element::u8)},
         "com.microsoft"},
        // A scale and a zero point for each column, no addend, and a result of floats.
        {"QGemm",
         1,
         {integer("transA", 1)},
         {whole({2, 1}, {5, 7}, Element::u8), scalar(0.5), whole({}, {3}, Element::u8),
          whole({2, 2}, {3, 4, 1, 2}, Element::u8), line({0.5, 1}), u8({1, 2})},
         {floats({1, 2}, {1, 2})},
         "com.microsoft"},
        // What is between two numbers is cut off, as onnxruntime does.
        {"Resize",
         13,
         {text("mode", "linear"), text("coordinate_transformation_mode", "asymmetric")},
         {whole({1, 2}, {10, 21}, Element::u8), none, line({1, 2})},
         {whole({1, 4}, {10, 15, 21, 21}, Element::u8)}},
        {"Resize",
         13,
         {text("mode", "linear"), text("coordinate_transformation_mode", "asymmetric")},
         {whole({1, 2}, {-10, -21}, Element::i8), none, line({1, 2})},
         {whole({1, 4}, {-10, -15, -21, -21}, Element::i8)}},
        // Cubic ones, 0, -23.9, 0, 127.5, 255 and 278.9, go beyond the range of the type.
        {"Resize",
         13,
         {text("mode", "cubic"), text("coordinate_transformation_mode", "asymmetric")},
         {whole({1, 3}, {0, 0, 255}, Element::u8), none, line({1, 2})},
         {whole({1, 6}, {0, 0, 0, 127, 255, 255}, Element::u8)}},
        {"QLinearAdd",
         1,
         {},
         {u8({10, 20}), scalar(0.5), whole({}, {10}, Element::u8), u8({1, 2}), scalar(1), none, scalar(0.5),
          whole({}, {1}, Element::u8)},
         {u8({3, 15})},
         "com.microsoft"},
        {"QLinearConcat",
         1,
         {integer("axis", 0)},
         {scalar(1), whole({}, {1}, Element::u8), u8({4, 6}), scalar(0.5), whole({}, {2}, Element::u8), u8({9}),
          scalar(2), none},
         {u8({2, 3, 19})},
         "com.microsoft"},
        {"QLinearGlobalAveragePool",
         1,
         {integer("channels_last", 1)},
         {whole({1, 2, 2}, {1, 10, 3, 20}, Element::u8), scalar(1), whole({}, {1}, Element::u8), scalar(0.5),
          whole({}, {0}, Element::u8)},
         {whole({1, 1, 2}, {2, 28}, Element::u8)},
         "com.microsoft"},
        // A window that is larger than the image by less than a stride counts once, as in AveragePool.
        {"QLinearAveragePool",
         1,
         {integers("kernel_shape", {3, 3}), integers("strides", {2, 2})},
         {whole({1, 1, 2, 2}, {1, 3, 5, 7}, Element::u8), scalar(1), none, scalar(1), none},
         {whole({1, 1, 1, 1}, {4}, Element::u8)},
         "com.microsoft"},
        {"QLinearAveragePool",
         1,
         {integers("kernel_shape", {3, 3}), integers("strides", {2, 2}), integer("channels_last", 1)},
         {whole({1, 2, 2, 1}, {1, 3, 5, 7}, Element::u8), scalar(1), none, scalar(0.5), none},
         {whole({1, 1, 1, 1}, {8}, Element::u8)},
         "com.microsoft"},
        {"QLinearAveragePool",
         1,
         {integers("kernel_shape", {3, 3}), integers("strides", {2, 2}), integer("count_include_pad", 1)},
         {whole({1, 1, 2, 2}, {9, 9, 9, 9}, Element::u8), scalar(1), none, scalar(1), none},
         {whole({1, 1, 1, 1}, {4}, Element::u8)},
         "com.microsoft"},
        {"QLinearSigmoid",
         1,
         {},
         {i8({-128, 0, 127}), scalar(1), none, scalar(0.0078125), none},
         {i8({0, 64, 127})},
         "com.microsoft"},
        {"QLinearLeakyRelu",
         1,
         {real("alpha", 0.5F)},
         {i8({-8, 8}), scalar(1), none, scalar(1), whole({}, {1}, Element::i8)},
         {i8({-3, 9})},
         "com.microsoft"},
        {"QLinearSoftmax",
         1,
         {},
         {i8({0, 0}), scalar(1), none, scalar(0.00390625), none},
         {i8({127, 127})},
         "com.microsoft"},
        {"QLinearWhere",
         1,
         {},
         {whole({3}, {1, 0, 0}, Element::boolean), u8({10, 20, 30}), scalar(0.5), whole({}, {10}, Element::u8),
          u8({1, 2, 255}), scalar(1), whole({}, {0}, Element::u8), scalar(0.5), whole({}, {1}, Element::u8)},
         {u8({1, 5, 255})},
         "com.microsoft"},
        // A scale for each column, and a bias of floats.
        {"MatMulIntegerToFloat",
         1,
         {},
         {whole({1, 2}, {5, 7}, Element::u8), whole({2, 2}, {-1, 2, 1, 3}, Element::i8), scalar(0.5), line({2, 4}),
          whole({}, {4}, Element::u8), whole({}, {1}, Element::i8), line({0.25, 0.5})},
         {floats({1, 2}, {-1.75, 14.5})},
         "com.microsoft"},
        {"MatMulIntegerToFloat",
         1,
         {},
         {whole({2, 1}, {5, 7}, Element::u8), whole({1, 1}, {3}, Element::u8), scalar(0.5), scalar(2)},
         {floats({2, 1}, {15, 21})},
         "com.microsoft"},
        // The product of two vectors has one element, and no axis.
        {"MatMulIntegerToFloat",
         1,
         {},
         {u8({5, 7}), i8({1, 2}), scalar(0.5), scalar(2), none, none, line({0.25})},
         {floats({}, {19.25})},
         "com.microsoft"},
        // The range of A is that of u8 with a scale of 1 and a zero point of 55.
        {"DynamicQuantizeMatMul",
         1,
         {},
         {floats({1, 2}, {-55, 200}), whole({2, 1}, {1, 3}, Element::i8), scalar(0.5), whole({}, {1}, Element::i8),
          line({0.25})},
         {floats({1, 1}, {200.25})},
         "com.microsoft"},
    };
    for (const RuleCase &row : rows) expect_outputs(row);
}

// By the product of both scales over the result's, each rounded to f32: a sum of 864 is 25.5 quanta then, and not less.
TEST(QuantizedRules, ProductsAreMultipliedOnce) {
    const auto scalar = [](float number) { return floats({}, {number}); };
    const float a = 0.02F, b = 0.01F, y = 0.00677647F;
    const RuleCase row{
        "QLinearMatMul",
        10,
        {},
        {whole({1, 1}, {72}, Element::i8), scalar(a), whole({}, {0}, Element::i8), whole({1, 1}, {12}, Element::i8),
         scalar(b), whole({}, {0}, Element::i8), scalar(y), whole({}, {0}, Element::i8)},
        {whole({1, 1}, {26}, Element::i8)}};
    expect_outputs(row);
    const auto graph = model_of(row).lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    const float factor = a * b / y;  // evaluated in f64, either way gives 26

    EXPECT_EQ(864 * factor, 25.5F);
    EXPECT_TRUE(std::ranges::any_of(graph->values, [&](const Value &value) {
        if (!value.constant || value.form.type != Element::f32) return false;
        const Numbers numbers = from_constant(value.form, *value.constant);
        return std::get<0>(numbers.elements) == std::vector<double>{factor};
    }));
}

TEST(QuantizedRules, Refused) {
    struct Bad {
        int input;
        Numbers instead;
        std::string message;
    };
    const auto scalar = [](double number) { return floats({}, {number}); };
    // 1x2 times 2x3
    const RuleCase gemm{"QGemm",
                        1,
                        {},
                        {whole({1, 2}, {5, 7}, Element::u8), scalar(0.5), whole({}, {3}, Element::u8),
                         whole({2, 3}, {3, 1, 2, 4, 5, 6}, Element::i8), line({1, 2, 3}), whole({}, {0}, Element::i8),
                         whole({3}, {1, 2, 3}, Element::i32), scalar(0.5), whole({}, {10}, Element::u8)},
                        {counted({1})},
                        "com.microsoft"};
    ASSERT_TRUE(model_of(gemm).lowered()) << model_of(gemm).lowered().error().message;
    const std::vector<Bad> rows{
        {1, scalar(0), "a scale of it is not positive"},
        {1, scalar(-1), "a scale of it is not positive"},
        {1, scalar(nan), "a scale of it is not positive"},
        {1, line({1, 2}), "its input 'a_scale' of shape 2 must have one element"},
        {1, line({}), "its input 'a_scale' of shape 0 must have one element"},
        {1, whole({}, {1}, Element::i32), "its scales are not f32"},
        {4, line({1, 2}), "its input 'b_scale' of shape 2 must have one element, or 3 for the columns of B"},
        {4, scalar(infinity), "a scale of it is not positive"},
        {4, floats({3, 1}, {1, 2, 3}), "its input 'b_scale' of shape 3x1 must"},
        {6, line({1, 2, 3}), "its input 'C' is f32; needs i32"},
        {6, whole({4}, {1, 2, 3, 4}, Element::i32), "its input 'C' of shape 4 does not fit the product of shape 1x3"},
        {6, whole({2, 3}, {1, 2, 3, 4, 5, 6}, Element::i32), "its input 'C' of shape 2x3 does not fit"},
        {7, scalar(0), "by which nothing can be divided"},
        {7, scalar(1e-39), "by which nothing can be divided"},
        {7, line({1, 2, 3}), "its input 'y_scale' of shape 3 must have one element"},
        {8, whole({}, {1}, Element::i32), "its result is i32"},
    };
    for (const Bad &bad : rows) {
        RuleCase node = gemm;
        node.inputs[static_cast<size_t>(bad.input)] = bad.instead;
        const auto graph = model_of(node).lowered();
        ASSERT_FALSE(graph) << bad.message;
        EXPECT_NE(graph.error().message.find(bad.message), std::string::npos) << graph.error().message;
    }
}

TEST(QuantizedRules, RefusedConvolutions) {
    const auto scalar = [](double number) { return floats({}, {number}); };
    const RuleCase convolution{"QLinearConv",
                               10,
                               {},
                               {whole({1, 1, 2}, {5, 7}, Element::u8), scalar(0.5), whole({}, {3}, Element::u8),
                                whole({2, 1, 1}, {3, -3}, Element::i8), scalar(1), whole({}, {0}, Element::i8),
                                scalar(1), whole({}, {10}, Element::u8)},
                               {counted({1})}};
    ASSERT_TRUE(model_of(convolution).lowered()) << model_of(convolution).lowered().error().message;
    const struct {
        size_t input;
        Numbers instead;
        std::string message;
    } rows[] = {
        {1, line({1, 2}), "its scale has 2 elements; needs 1"},
        {2, whole({}, {3}, Element::i8), "a zero point of it has another type than its operand"},
        {2, whole({2}, {3, 4}, Element::u8), "its zero point has 2 elements; needs 1"},
        {4, line({1, 2, 3}), "its scale has 3 elements; needs 1 or 2"},
        {5, whole({}, {3}, Element::u8), "a zero point of it has another type than its operand"},
        {5, whole({3}, {1, 2, 3}, Element::i8), "its zero point has 3 elements; needs 1 or 2"},
    };
    for (const auto &row : rows) {
        RuleCase node = convolution;
        node.inputs[row.input] = row.instead;
        const auto graph = model_of(node).lowered();
        ASSERT_FALSE(graph) << row.message;
        EXPECT_NE(graph.error().message.find(row.message), std::string::npos) << graph.error().message;
        EXPECT_EQ(graph.error().message.find("1 or 1"), std::string::npos) << graph.error().message;
    }
}

// The product of the scales is rounded before it is divided; else the last place would differ for these.
TEST(QuantizedRules, ScaleOfAConvolutionIsRoundedTwice) {
    constexpr float x = 0.61F, w = 0.63F, y = 0.07F;
    const auto scalar = [](double number) { return floats({}, {number}); };
    const RuleCase node{"QLinearConv",
                        10,
                        {},
                        {whole({1, 1, 2}, {5, 7}, Element::u8), scalar(x), whole({}, {3}, Element::u8),
                         whole({1, 1, 1}, {3}, Element::i8), scalar(w), whole({}, {0}, Element::i8), scalar(y),
                         whole({}, {10}, Element::u8)},
                        {counted({1})}};
    const auto graph = model_of(node).lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    const auto is_convolution = [](const Node &n) { return std::holds_alternative<Convolution>(n.op); };
    const auto convolution = std::ranges::find_if(graph->nodes, is_convolution);
    ASSERT_NE(convolution, graph->nodes.end());
    const Value &scale = graph->values[convolution->inputs[3]];
    ASSERT_TRUE(scale.constant);
    const float product = x * w, expected = product / y;
    EXPECT_EQ(std::get<0>(from_constant(scale.form, *scale.constant).elements), std::vector<double>{expected});
    EXPECT_NE(expected, static_cast<float>(double(x) * double(w) / double(y)));
}

TEST(QuantizedRules, PartsOfConcatenations) {
    const auto scalar = [](double number) { return floats({}, {number}); };
    const std::vector<std::optional<Numbers>> inputs{scalar(1),
                                                     whole({}, {1}, Element::u8),
                                                     whole({2}, {4, 6}, Element::u8),
                                                     scalar(0.5),
                                                     none,
                                                     whole({1}, {9}, Element::u8),
                                                     scalar(2),
                                                     none};
    for (size_t count = 2; count <= inputs.size(); count++) {
        const RuleCase node{"QLinearConcat",      1,
                            {integer("axis", 0)}, {inputs.begin(), inputs.begin() + count},
                            {counted({1})},       "com.microsoft"};
        const auto graph = model_of(node).lowered();
        EXPECT_EQ(graph.ok(), count == 5 || count == 8) << count;
        if (graph) continue;
        const std::string message =
            count == 2 ? "it joins nothing" : "it has " + std::to_string(count) + " inputs; needs 2, and a value";
        EXPECT_NE(graph.error().message.find(message), std::string::npos) << graph.error().message;
    }
}

TEST(QuantizedRules, ScalesOfSums) {
    const struct {
        double x;
        std::vector<double> w;
        double y;
        bool is_accepted;
    } rows[] = {
        {0.5, {0.5, 0.25}, 1, true}, {0.5, {0, 0.25}, 1, true},        {0.5, {nan, 1}, 1, false},
        {0.5, {-0.1, 1}, 1, false},  {0.5, {1, infinity}, 1, false},   {0, {0.5, 0.25}, 1, false},
        {-1, {0.5, 0.25}, 1, false}, {0.5, {0.5, 0.25}, 0, false},     {0.5, {0.5, 0.25}, infinity, false},
        {0.5, {0, 0}, 1, true},      {0.5, {infinity, nan}, 1, false},
    };
    const auto scalar = [](double number) { return floats({}, {number}); };
    for (const auto &row : rows) {
        const RuleCase node{"QLinearConv",
                            10,
                            {},
                            {whole({1, 1, 2}, {5, 7}, Element::u8), scalar(row.x), whole({}, {3}, Element::u8),
                             whole({2, 1, 1}, {3, -3}, Element::i8), line(row.w), whole({}, {0}, Element::i8),
                             scalar(row.y), whole({}, {10}, Element::u8)},
                            {counted({1})}};
        const auto graph = model_of(node).lowered();
        const std::string message = graph ? "" : graph.error().message;
        EXPECT_EQ(message.find("a scale of it is not positive") == std::string::npos, row.is_accepted)
            << row.x << " " << row.w[0] << " " << row.w[1] << " " << row.y << ": " << message;
        EXPECT_EQ(graph.ok(), row.is_accepted) << message;
    }
}

TEST(QuantizedRules, ScalesThatDivideNothing) {
    const struct {
        std::vector<double> scales;
        std::string message;
    } rows[] = {
        {{0.5, 0}, "its scale is 0.000000, by which nothing can be divided"},
        {{nan, 1}, "its scale is nan"},
        {{1, infinity}, "its scale is inf"},
        {{1, 1e-39}, "its scale is 0.000000, by which nothing can be divided"},
        {{-1.1754942e-38, 1}, "its scale is -0.000000, by which nothing can be divided"},
        {{-0.5, 1.17549435e-38}, ""},  // unusual, and defined
    };
    for (const auto &row : rows) {
        const RuleCase node{
            "QuantizeLinear", 13, {integer("axis", 0)}, {line({1, 2}), line(row.scales)}, {counted({2})}};
        const auto graph = model_of(node).lowered();
        ASSERT_EQ(graph.ok(), row.message.empty()) << row.message;
        if (!graph) {
            EXPECT_NE(graph.error().message.find(row.message), std::string::npos) << graph.error().message;
        }
    }
}

// Blocks of any length, and more places than anybody could list.
TEST(QuantizedRules, BlocksWithoutEnd) {
    const auto message = [](Shape shape, Shape scales, int64_t block) {
        const auto graph =
            BuiltModel(21)
                .input("x", std::move(shape), Element::u8)
                .input("scales", std::move(scales))
                .node("DequantizeLinear", {"x", "scales"}, {"y"}, {integer("axis", 0), integer("block_size", block)})
                .output("y")
                .lowered();
        return graph ? "" : graph.error().message;
    };
    EXPECT_EQ(message({4, 2}, {1, 2}, INT64_MAX), "");
    EXPECT_EQ(message({4, 2}, {4, 2}, 1), "");
    EXPECT_NE(message({4, 2}, {3, 2}, 2).find("in blocks of 2"), std::string::npos);
    const int64_t huge = int64_t{1} << 40;
    EXPECT_NE(message({huge}, {2}, huge / 2).find("1099511627776 places, which is too many; kiln lists up to 16777216"),
              std::string::npos);
}

}  // namespace
}  // namespace kiln::graph
