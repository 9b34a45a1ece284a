// Operators in forms and at places that the conformance suites do not have.
#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

void expect_all(const std::vector<RuleCase> &rows) {
    for (const RuleCase &row : rows) expect_outputs(row);
}

TEST(Rules, WhereNumbersAreLargeSmallOrNone) {
    expect_all({
        {"Softplus", 13, {}, {line({-infinity, -800, 0, 800, infinity})}, {line({0, 0, std::log(2), 800, infinity})}},
        {"Mish", 18, {}, {line({-800, 0, 800})}, {line({0, 0, 800})}},
        {"Sigmoid", 13, {}, {line({-infinity, -800, 800, nan})}, {line({0, 0, 1, nan})}},
        {"Relu", 14, {}, {line({-infinity, nan, 1})}, {line({0, nan, 1})}},
        {"LeakyRelu", 16, {real("alpha", 0.5F)}, {line({-infinity, -2, 3})}, {line({-infinity, -1, 3})}},
        {"Elu", 6, {}, {line({-800, 800})}, {line({-1, 800})}},
        {"Celu", 12, {real("alpha", 2)}, {line({-1600, 0, 1600})}, {line({-2, 0, 1600})}},
        {"Asinh",
         9,
         {},
         {line({-infinity, -1e-8, 1e-8, 9e9, 1e10, 1e38, infinity, nan})},
         {line({-infinity, -1e-8, 1e-8, std::asinh(9e9), std::asinh(1e10), std::asinh(1e38), infinity, nan})}},
        {"Asinh",
         9,
         {},
         {floats({3}, {-60000, 150, 250}, Element::f16)},
         {floats({3}, {std::asinh(-60000), std::asinh(150), std::asinh(250)}, Element::f16)}},
        {"Acosh",
         9,
         {},
         {line({-infinity, -1e10, -2, 0.5, 1, 1e10, 3e38, infinity})},
         {line({nan, nan, nan, nan, 0, std::acosh(1e10), std::acosh(3e38), infinity})}},
        {"Atan",
         7,
         {},
         {line({-infinity, -3, -1, -1e-8, 0.3, 0.5, 2.5, nan})},
         {line({-std::asin(1), std::atan(-3), std::atan(-1), -1e-8, std::atan(0.3), std::atan(0.5), std::atan(2.5),
                nan})}},
        {"Asin",
         7,
         {},
         {line({-1, -0.999, -1e-8, 0.5, 1, 2})},
         {line({std::asin(-1), std::asin(-0.999), -1e-8, std::asin(0.5), std::asin(1), nan})}},
        {"Acos",
         7,
         {},
         {line({-1, -0.5, 0, 0.9999, 1, 2})},
         {line({std::acos(-1), std::acos(-0.5), std::acos(0), std::acos(0.9999), 0, nan})}},
        {"Sinh", 9, {}, {line({1e-8, -3})}, {line({1e-8, std::sinh(-3)})}},
        {"ReduceLogSumExp", 13, {}, {line({1000, 1000})}, {line({1000 + std::log(2)})}},
        {"ReduceLogSumExp", 13, {}, {line({-infinity, -infinity})}, {line({-infinity})}},
        {"ReduceLogSumExp", 13, {}, {line({infinity, 1})}, {line({infinity})}},
        {"LpNormalization", 1, {}, {floats({2, 2}, {3, 4, 0, 0})}, {floats({2, 2}, {.6, .8, 0, 0})}},
        {"IsInf",
         10,
         {integer("detect_negative", 0)},
         {line({-infinity, 1, infinity})},
         {whole({3}, {0, 0, 1}, Element::boolean)}},
        {"Clip", 13, {}, {line({1, 2, 3}), floats({}, {5}), floats({}, {2})}, {line({2, 2, 2})}},
        {"Clip", 12, {}, {whole({3}, {1, 2, 3}), none, whole({1}, {2})}, {whole({3}, {1, 2, 2})}},
    });
}

TEST(Rules, Arithmetic) {
    expect_all({
        {"Pow", 13, {}, {whole({2}, {2, 3}, Element::i32), line({2, 3})}, {whole({2}, {4, 27}, Element::i32)}},
        {"Pow", 13, {}, {line({2, 3}), list({2, 3})}, {line({4, 27})}},
        {"Mod", 13, {}, {list({-4, 7, 5}), list({3, -3, 8})}, {list({2, -2, 5})}},
        {"Mod", 13, {integer("fmod", 1)}, {list({-4, 7, 5}), list({3, -3, 8})}, {list({-1, 1, 5})}},
        {"Mod", 13, {integer("fmod", 1)}, {line({-4.5, 7.5}), line({3, -3})}, {line({-1.5, 1.5})}},
        {"Div", 14, {}, {list({-7, 7}), list({2, -2})}, {list({-3, -3})}},
        {"Greater", 13, {}, {line({1, 2}), line({2, 1})}, {whole({2}, {0, 1}, Element::boolean)}},
        {"GreaterOrEqual", 16, {}, {line({1, 2}), line({1, 3})}, {whole({2}, {1, 0}, Element::boolean)}},
        {"Mean", 13, {}, {line({1, 2}), line({3, 4}), floats({}, {5})}, {line({3, 11.0 / 3})}},
        {"Max", 13, {}, {line({1, nan}), line({3, 4})}, {line({3, nan})}},
        {"Sum", 13, {}, {counted({2})}, {counted({2})}},
        {"PRelu",
         16,
         {},
         {floats({2, 1, 2}, {-1, -1, 1, -2}), floats({1, 1}, {3})},
         {floats({2, 1, 2}, {-3, -3, 1, -6})}},
        {"Cast", 13, {integer("to", 9)}, {line({0, -0.5, nan})}, {whole({3}, {0, 1, 1}, Element::boolean)}},
        {"Cast", 13, {integer("to", 1)}, {whole({2}, {0, 255}, Element::u8)}, {line({0, 255})}},
        {"CastLike", 15, {}, {line({1.5, -1.5}), list({0})}, {list({1, -1})}},
        {"Not", 1, {}, {whole({2}, {0, 1}, Element::boolean)}, {whole({2}, {1, 0}, Element::boolean)}},
        {"QuickGelu", 1, {}, {line({0, 100})}, {line({0, 100})}, "com.microsoft"},
    });
}

TEST(Rules, Products) {
    expect_all({
        {"MatMul", 13, {}, {counted({2}), counted({2})}, {floats({}, {5})}},
        {"MatMul", 13, {}, {counted({2}), counted({2, 2})}, {line({7, 10})}},
        {"MatMul", 13, {}, {counted({2, 2}), counted({2})}, {line({5, 11})}},
        {"MatMul", 13, {}, {counted({2, 1, 2}), counted({2})}, {floats({2, 1}, {5, 11})}},
        {"Gemm",
         13,
         {integer("transA", 1), real("alpha", 2), real("beta", 0.5F)},
         {counted({2, 1}), counted({2, 1}), floats({}, {4})},
         {floats({1, 1}, {12})}},
        {"Gemm", 11, {}, {counted({1, 2}), counted({2, 2}), floats({2}, {1, 2})}, {floats({1, 2}, {8, 12})}},
        {"Gemm",
         13,
         {real("beta", 0)},
         {counted({1, 2}), counted({2, 2}), line({infinity, nan})},
         {floats({1, 2}, {7, 10})}},
    });
}

TEST(Rules, Windows) {
    const Numbers row = counted({1, 1, 5});
    const auto kernel = [](std::vector<int64_t> extents) { return integers("kernel_shape", std::move(extents)); };
    const auto result = [](std::vector<double> elements) {
        return floats({1, 1, static_cast<int64_t>(elements.size())}, elements);
    };
    const onnx::Attribute two = integers("strides", {2}), ceil = integer("ceil_mode", 1);
    expect_all({
        {"MaxPool", 12, {kernel({2}), two}, {row}, {result({2, 4})}},
        {"MaxPool", 12, {kernel({2}), two, ceil}, {row}, {result({2, 4, 5})}},
        {"MaxPool", 12, {kernel({2}), two, text("auto_pad", "SAME_UPPER")}, {row}, {result({2, 4, 5})}},
        {"MaxPool", 12, {kernel({2}), two, text("auto_pad", "SAME_LOWER")}, {row}, {result({1, 3, 5})}},
        {"MaxPool", 12, {kernel({2}), two, text("auto_pad", "VALID"), ceil}, {row}, {result({2, 4, 5})}},
        {"MaxPool", 12, {kernel({2}), two, text("auto_pad", "VALID")}, {row}, {result({2, 4})}},
        {"AveragePool", 12, {kernel({4}), two, text("auto_pad", "VALID"), ceil}, {row}, {result({2.5, 4})}},
        {"MaxPool", 12, {kernel({2}), integers("dilations", {2})}, {row}, {result({3, 4, 5})}},
        // A window larger than the input is one that ceil_mode adds.
        {"MaxPool", 12, {kernel({6}), two, ceil}, {row}, {result({5})}},
        // One that is larger by less than a stride counts once, as ONNX's shape inference divides towards zero.
        {"MaxPool", 12, {kernel({6}), two}, {row}, {result({5})}},
        {"AveragePool", 11, {kernel({6}), two, integer("count_include_pad", 1)}, {row}, {result({2.5})}},
        {"AveragePool", 19, {kernel({6}), two, integer("count_include_pad", 1)}, {row}, {result({3})}},
        {"MaxPool", 19, {kernel({6}), two}, {row}, {result({5})}},
        {"LpPool", 18, {kernel({6}), two, integer("p", 1)}, {row}, {result({15})}},
        // A last window within the padding behind the input would see nothing.
        {"MaxPool",
         12,
         {kernel({1}), integers("strides", {3}), integers("pads", {0, 1}), ceil},
         {row},
         {result({1, 4})}},
        {"AveragePool", 11, {kernel({2}), two, integers("pads", {1, 0})}, {row}, {result({1, 2.5, 4.5})}},
        {"AveragePool",
         11,
         {kernel({2}), two, integers("pads", {1, 0}), integer("count_include_pad", 1)},
         {row},
         {result({.5, 2.5, 4.5})}},
        {"AveragePool",
         11,
         {kernel({3}), two, integers("pads", {1, 1}), ceil, integer("count_include_pad", 1)},
         {counted({1, 1, 4})},
         {result({1, 3, 2})}},
        {"LpPool", 18, {kernel({2}), two, ceil}, {row}, {result({std::sqrt(5), 5, 5})}},
        {"LpPool", 18, {kernel({2}), two, integer("p", 1), integers("pads", {1, 0})}, {row}, {result({1, 5, 9})}},
        {"LRN",
         13,
         {integer("size", 2), real("alpha", 2), real("beta", 1), real("bias", 0)},
         {floats({1, 3, 1}, {1, 2, 4})},
         {floats({1, 3, 1}, {1.0 / 5, 2.0 / 20, 4.0 / 16})}},
        {"Conv",
         11,
         {text("auto_pad", "SAME_LOWER"), two},
         {counted({1, 1, 4}), floats({1, 1, 3}, {1, 10, 100})},
         {result({210, 432})}},
        {"Conv",
         11,
         {text("auto_pad", "SAME_UPPER"), two},
         {counted({1, 1, 4}), floats({1, 1, 3}, {1, 10, 100})},
         {result({321, 43})}},
        {"Conv",
         11,
         {integers("pads", {-1, 0})},
         {row, floats({1, 1, 2}, {1, 10}), line({.5})},
         {result({32.5, 43.5, 54.5})}},
    });
}

TEST(Rules, ConvTranspose) {
    const Numbers row = floats({1, 1, 2}, {1, 2}), w = floats({1, 1, 3}, {1, 10, 100});
    const auto result = [](std::vector<double> elements) {
        return floats({1, 1, static_cast<int64_t>(elements.size())}, elements);
    };
    const onnx::Attribute two = integers("strides", {2});
    expect_all({
        {"ConvTranspose", 11, {}, {row, w}, {result({1, 12, 120, 200})}},
        {"ConvTranspose", 11, {two}, {row, w, line({.5})}, {result({1.5, 10.5, 102.5, 20.5, 200.5})}},
        {"ConvTranspose",
         11,
         {two, integers("pads", {1, 0}), integers("output_padding", {1})},
         {row, w},
         {result({10, 102, 20, 200, 0})}},
        {"ConvTranspose", 11, {two, integers("output_shape", {4})}, {row, w}, {result({10, 102, 20, 200})}},
        {"ConvTranspose",
         11,
         {two, integers("output_shape", {4}), text("auto_pad", "SAME_UPPER")},
         {row, w},
         {result({1, 10, 102, 20})}},
        {"ConvTranspose", 11, {two, text("auto_pad", "SAME_UPPER")}, {row, w}, {result({1, 10, 102, 20})}},
        {"ConvTranspose", 11, {two, text("auto_pad", "SAME_LOWER")}, {row, w}, {result({10, 102, 20, 200})}},
        {"ConvTranspose",
         11,
         {two, integers("output_shape", {1, 1, 7})},
         {row, w},
         {result({1, 10, 102, 20, 200, 0, 0})}},
        {"ConvTranspose",
         11,
         {integer("group", 2)},
         {floats({1, 2, 1}, {1, 2}), floats({2, 1, 2}, {1, 10, 3, 30})},
         {floats({1, 2, 2}, {1, 10, 6, 60})}},
    });
}

TEST(Rules, ReductionsAndPlaces) {
    const Numbers x = floats({2, 2}, {1, -2, 3, 4});
    expect_all({
        {"ReduceL1", 13, {}, {x}, {floats({1, 1}, {10})}},
        {"ReduceL2", 18, {integer("keepdims", 0)}, {x, list({0})}, {line({std::sqrt(10), std::sqrt(20)})}},
        {"ReduceSumSquare", 18, {integer("noop_with_empty_axes", 1)}, {x}, {floats({2, 2}, {1, 4, 9, 16})}},
        {"ReduceProd", 18, {integer("keepdims", 0)}, {x, list({-1})}, {line({-2, 12})}},
        {"ReduceMean", 18, {integer("keepdims", 0), integer("noop_with_empty_axes", 1)}, {x, list({})}, {x}},
        {"ReduceMean", 18, {integer("keepdims", 0)}, {x, list({})}, {floats({}, {1.5})}},
        {"ArgMax", 13, {}, {floats({2, 3}, {1, 5, 2, 9, 9, 2})}, {whole({1, 3}, {1, 1, 0})}},
        {"ArgMax",
         13,
         {integer("axis", 1), integer("keepdims", 0), integer("select_last_index", 1)},
         {floats({2, 3}, {1, 5, 2, 9, 9, 2})},
         {list({1, 1})}},
        {"ArgMin", 13, {integer("axis", -1)}, {floats({1, 3}, {2, 1, 1})}, {whole({1, 1}, {1})}},
    });
}

// As onnxruntime has them: a NaN is taken where it is the first element of its row, and nowhere else.
TEST(Rules, PlacesInRowsWithNaN) {
    const Numbers x = floats({7, 3}, {nan, 1,   2,        3,   nan, 1, 1,   nan,       3,   nan,      nan,
                                      nan, nan, infinity, nan, 2,   2, nan, -infinity, nan, -infinity});
    const auto places = [&](const char *op_type, std::vector<int64_t> expected, int64_t last = 0) {
        return RuleCase{op_type,
                        13,
                        {integer("axis", 1), integer("keepdims", 0), integer("select_last_index", last)},
                        {x},
                        {list(std::move(expected))}};
    };
    expect_all({
        places("ArgMax", {0, 0, 2, 0, 0, 0, 0}),
        places("ArgMax", {0, 0, 2, 0, 0, 1, 2}, 1),
        places("ArgMin", {0, 2, 0, 0, 0, 0, 0}),
        places("ArgMin", {0, 2, 0, 0, 0, 1, 2}, 1),
        {"Hardmax", 13, {}, {x}, {floats({7, 3}, {0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0})}},
    });
}

TEST(Rules, StatisticsOfALayer) {
    expect_outputs({"LayerNormalization",
                    17,
                    {real("epsilon", 0)},
                    {floats({1, 2}, {1, 3}), line({1, 2}), line({0, 5})},
                    {floats({1, 2}, {-1, 7}), floats({1, 1}, {2}), floats({1, 1}, {1})}});
}

TEST(Rules, PadsAndSlices) {
    const Numbers x = counted({3});
    const auto mode = [](const char *name) { return std::vector{text("mode", name)}; };
    expect_all({
        {"Pad", 13, {}, {x, list({1, 1}), floats({}, {9})}, {line({9, 1, 2, 3, 9})}},
        {"Pad", 13, {}, {x, list({-1, 1})}, {line({2, 3, 0})}},
        {"Pad", 13, mode("reflect"), {x, list({2, 1})}, {line({3, 2, 1, 2, 3, 2})}},
        {"Pad", 13, mode("reflect"), {x, list({4, 5})}, {line({1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2})}},
        {"Pad", 13, mode("reflect"), {x, list({-1, 2})}, {line({2, 3, 2, 3})}},
        {"Pad", 13, mode("edge"), {x, list({2, -1})}, {line({1, 1, 1, 2})}},
        {"Pad", 19, mode("wrap"), {x, list({2, 4})}, {line({2, 3, 1, 2, 3, 1, 2, 3, 1})}},
        {"Pad", 19, mode("wrap"), {x, list({-1, 2})}, {line({2, 3, 2, 3})}},
        {"Pad", 18, {}, {counted({1, 2}), list({1, 0}), none, list({-1})}, {floats({1, 3}, {0, 1, 2})}},
        {"Pad", 13, {}, {x, list({-2, -1})}, {line({})}},
        {"CenterCropPad", 18, {integers("axes", {0})}, {x, list({2})}, {line({1, 2})}},
        {"CenterCropPad", 18, {}, {x, list({6})}, {line({0, 1, 2, 3, 0, 0})}},
        {"Slice", 13, {}, {x, list({-1}), list({INT64_MIN}), list({0}), list({-1})}, {line({3, 2, 1})}},
        {"Slice", 13, {}, {x, list({INT64_MAX}), list({0}), list({0}), list({-2})}, {line({3})}},
        {"Slice", 13, {}, {x, list({INT64_MIN}), list({INT64_MAX}), none, list({INT64_MAX})}, {line({1})}},
        {"Slice", 13, {}, {x, list({2}), list({1})}, {line({})}},
        {"Compress", 9, {}, {counted({2, 2}), whole({3}, {0, 1, 1}, Element::boolean)}, {line({2, 3})}},
        {"Compress",
         11,
         {integer("axis", -1)},
         {counted({2, 3}), whole({4}, {1, 0, 1, 1}, Element::boolean)},
         {floats({2, 2}, {1, 3, 4, 6})}},
        {"Compress", 11, {integer("axis", 0)}, {counted({2, 1}), whole({1}, {0}, Element::boolean)}, {counted({0, 1})}},
        {"ReverseSequence", 10, {}, {counted({3, 2}), list({3, 1})}, {floats({3, 2}, {5, 2, 3, 4, 1, 6})}},
        {"ReverseSequence",
         10,
         {integer("batch_axis", 0), integer("time_axis", 1)},
         {counted({2, 3}), list({2, 2})},
         {floats({2, 3}, {2, 1, 3, 5, 4, 6})}},
        {"Gather", 13, {integer("axis", -1)}, {counted({1, 3}), whole({2, 1}, {-1, 0})}, {floats({1, 2, 1}, {3, 1})}},
        {"Tile", 13, {}, {counted({1, 2}), list({2, 2})}, {floats({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2})}},
        {"Tile", 13, {}, {x, list({0})}, {line({})}},
        {"Split", 18, {integer("num_outputs", 2)}, {x}, {line({1, 2}), line({3})}},
        {"Expand", 13, {}, {counted({2, 1}), list({1, 2, 1, 2})}, {floats({1, 2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2})}},
    });
}

// The quotient of a sum is cut off.
TEST(Rules, MeansOfIntegers) {
    expect_all({
        {"ReduceMean",
         18,
         {},
         {whole({2, 3}, {-1, -2, -5, 1, 2, 5}, Element::i32), list({1})},
         {whole({2, 1}, {-2, 2}, Element::i32)}},
        {"ReduceMean", 13, {integer("keepdims", 0)}, {list({7, 8})}, {whole({}, {7})}},
        {"ReduceMean", 18, {integer("noop_with_empty_axes", 1)}, {list({7, 8})}, {list({7, 8})}},
    });
}

// Widths of its filter are beyond any integer.
TEST(Rules, ResizeToNothing) {
    for (const char *mode : {"nearest", "linear", "cubic"}) {
        std::vector<onnx::Attribute> attributes{text("mode", mode)};
        if (mode != std::string("nearest")) attributes.push_back(integer("antialias", 1));
        expect_outputs({"Resize", 18, attributes, {counted({1, 10}), none, line({1, 1e-13})}, {floats({1, 0}, {})}});
    }
}

TEST(Rules, Shapes) {
    const Numbers x = counted({2, 3});
    expect_all({
        {"Reshape", 14, {integer("allowzero", 1)}, {counted({0, 3}), list({3, 0})}, {counted({3, 0})}},
        {"Reshape", 13, {}, {x, list({0, -1, 1})}, {counted({2, 3, 1})}},
        {"Reshape", 13, {}, {counted({1, 1}), list({})}, {counted({})}},
        {"Flatten", 13, {integer("axis", 0)}, {x}, {counted({1, 6})}},
        {"Flatten", 13, {integer("axis", 2)}, {x}, {counted({6, 1})}},
        {"Unsqueeze", 13, {}, {x, list({-1, 0})}, {counted({1, 2, 3, 1})}},
        {"Size", 13, {}, {x}, {whole({}, {6})}},
        {"Shape", 15, {integer("start", -1), integer("end", 100)}, {x}, {list({3})}},
        {"Transpose", 13, {}, {x}, {floats({3, 2}, {1, 4, 2, 5, 3, 6})}},
        {"SpaceToDepth", 13, {integer("blocksize", 2)}, {counted({1, 1, 2, 2})}, {counted({1, 4, 1, 1})}},
    });
}

// These take constants alone.
TEST(Rules, OfConstants) {
    const auto graph = BuiltModel()
                           .constant("a", floats({}, {1}))
                           .constant("b", floats({}, {2.5}))
                           .constant("c", floats({}, {0.5}))
                           .constant("m", floats({2, 2}, {1, 0, 0, 2}))
                           .node("Range", {"a", "b", "c"}, {"range"})
                           .node("Range", {"b", "a", "c"}, {"empty"})
                           .node("NonZero", {"m"}, {"places"})
                           .output("range")
                           .output("empty")
                           .output("places")
                           .lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    const auto outputs = evaluate(*graph, {});
    ASSERT_TRUE(outputs) << outputs.error().message;
    expect_numbers((*outputs)[0], line({1, 1.5, 2}));
    expect_numbers((*outputs)[1], line({}));
    expect_numbers((*outputs)[2], whole({2, 2}, {0, 1, 0, 1}));
}

TEST(Rules, Constants) {
    const auto constants = [](std::vector<onnx::Attribute> attributes, Numbers expected) {
        return RuleCase{"Constant", 13, std::move(attributes), {}, {std::move(expected)}};
    };
    expect_all({
        constants({integer("value_int", 3)}, whole({}, {3})),
        constants({real("value_float", 1.5F)}, floats({}, {1.5})),
        constants({integers("value_ints", {})}, list({})),
        constants({reals("value_floats", {1, 2})}, line({1, 2})),
        constants({{"value", tensor("", counted({2, 1}))}}, counted({2, 1})),
    });
}

}  // namespace
}  // namespace kiln::graph
