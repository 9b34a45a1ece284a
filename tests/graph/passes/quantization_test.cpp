// Passes on quantized values.
#include "graph/passes/passes.h"
#include "graph/passes/quantization/center_weights.h"
#include "graph/quantized_forms.h"
#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/rows.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

Pool pool(Pool::Kind kind, bool counts_padding = false) {
    return {.kind = kind,
            .window = {2},
            .strides = {2},
            .dilations = {1},
            .padding = {{0, 0}},
            .beyond = {0},
            .counts_padding = counts_padding};
}

ValueId stored_input(Sketch &s, const Shape &shape, Element type = Element::i8) { return s.input(shape, type); }

// Less a zero point that is known when the network runs.
ValueId offset_input(Sketch &s, const Shape &shape) {
    return s.node(Elementwise{without_zero_point(), shape}, {stored_input(s, shape), s.input({}, Element::i8)});
}

TEST(MoveQuantization, table) {
    const std::vector<Row> rows{
        {"across a maximum, with equal numbers",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 2, 4}), 0.5, 3});
             return Ids{quantize(s, s.node(pool(Pool::Kind::maximum), {x}), 0.5, 3).stored};
         },
         "%0 = maximum_pool window=2 strides=2 (x0)\n-> %0"},
        {"not across a window of padding alone, whose maximum no quantum is",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 2, 4}), 0.5, 3});
             Pool between = pool(Pool::Kind::maximum);
             between.strides = {1}, between.dilations = {6}, between.padding = {{1, 2}};
             return Ids{s.node(between, {x})};
         },
         "%0 = elementwise mul(f32(sub(i32(x0),i32(x2))),x1) shape=1x2x4 (x0, scalar, scalar)\n"
         "%1 = maximum_pool window=2 dilations=6 padding=1,2 (%0)\n-> %1"},
        {"a pad fills with the zero point",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 2, 4}), 0.5, 3});
             return Ids{quantize(s, s.pad(x, 2, 1, 1), 0.5, 3).stored};
         },
         "%0 = resample axis2=[- 0..3 -] fill=3 (x0)\n-> %0"},
        {"the quotient of a pad's fill is rounded to f32, where it is a half",
         [](Sketch &s) {
             return Ids{quantize(s, s.pad(s.input({1, 2, 4}), 2, 1, 1, 0.96981096F), 0.27708885F).stored};
         },
         "%0 = elementwise i8(min(max(round(div(x0,x1)),-128),127)) shape=1x2x4 (x0, scalar)\n"
         "%1 = resample axis2=[- 0..3 -] fill=4 (%0)\n-> %1"},
        {"across a maximum without NaN, which quanta never are",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 2, 4}), 0.5, 3});
             const auto numbers = s.elementwise("select(is_nan(x0),-inf,x0)", {x});
             return Ids{quantize(s, s.node(Reduce{Reduce::Kind::maximum, {1}}, {numbers}), 0.5, 3).stored};
         },
         "%0 = maximum axes=1 (x0)\n-> %0"},
        {"parts of a concatenation with equal numbers",
         [](Sketch &s) {
             const auto a = dequantize(s, {stored_input(s, {1, 2}), 0.5}),
                        b = dequantize(s, {stored_input(s, {1, 2}), 0.5});
             return Ids{quantize(s, s.node(Concat{1}, {a, b}), 0.5).stored};
         },
         "%0 = concat axis=1 (x0, x1)\n-> %0"},
        {"the next quantization goes to the parts of another concatenation",
         [](Sketch &s) {
             const auto a = dequantize(s, {stored_input(s, {1, 2}), 0.5}),
                        b = dequantize(s, {stored_input(s, {1, 2}), 0.25});
             return Ids{quantize(s, s.node(Concat{1}, {a, b}), 0.5).stored};
         },
         "%0 = elementwise mul(f32(x0),x1) shape=1x2 (x1, scalar)\n"
         "%1 = elementwise i8(min(max(round(div(x0,x1)),-128),127)) shape=1x2 (%0, scalar)\n"
         "%2 = concat axis=1 (x0, %1)\n-> %2"},
        {"not across an average",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 2, 4}), 0.5});
             return Ids{quantize(s, s.node(pool(Pool::Kind::average), {x}), 0.5).stored};
         },
         "%0 = elementwise mul(f32(x0),x1) shape=1x2x4 (x0, scalar)\n%1 = average_pool window=2 strides=2 (%0)\n"
         "%2 = elementwise i8(min(max(round(div(x0,x1)),-128),127)) shape=1x2x2 (%1, scalar)\n-> %2"},
        {"numbers that are infinite in between do not vanish",
         [](Sketch &s) {
             return Ids{quantize(s, dequantize(s, {stored_input(s, {64}), 3e37}), 3e37).stored};
         },
         "%0 = elementwise mul(f32(x0),x1) shape=64 (x0, scalar)\n"
         "%1 = elementwise i8(min(max(round(div(x0,x1)),-128),127)) shape=64 (%0, scalar)\n-> %1"},
        {"the largest ones that are finite vanish",
         [](Sketch &s) {
             return Ids{quantize(s, s.reshape(dequantize(s, {stored_input(s, {64}), 1e36}), {8, 8}), 1e36).stored};
         },
         "%0 = reshape shape=8x8 (x0)\n-> %0"},
        {"other numbers do not vanish",
         [](Sketch &s) {
             return Ids{quantize(s, dequantize(s, {stored_input(s, {2}), 0.5}), 0.5, 1).stored};
         },
         "%0 = elementwise mul(f32(x0),x1) shape=2 (x0, scalar)\n"
         "%1 = elementwise i8(min(max(add(round(div(x0,x1)),f32(x2)),-128),127)) shape=2 (%0, scalar, scalar)\n-> %1"},
    };
    expect_rows(rows, move_quantization, {.tolerance = 0});
}

// All passes that are about quantization, in their order.
Graph all_of_quantization(const Graph &graph) { return *run_passes(graph, "requantize_sums"); }

ValueId weights(Sketch &s, const Shape &shape, std::vector<double> scales = {0.5}) {
    std::vector<int64_t> stored(*element_count(shape));
    for (size_t i = 0; i < stored.size(); i++) stored[i] = static_cast<int64_t>(i * 7 % 11) - 5;
    return dequantized_constant(s, shape, std::move(stored), std::move(scales));
}

Convolution pointwise(std::vector<EpilogueStep> epilogue = {}) {
    return {
        .strides = {1}, .input_dilation = {1}, .dilations = {1}, .padding = {{0, 0}}, .epilogue = std::move(epilogue)};
}

TEST(RequantizeSums, table) {
    const std::vector<Row> rows{
        {"a convolution with a bias and relu",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5, 3});
             const auto bias = dequantized_constant(s, {2}, {100, -100}, {0.25});
             const auto c = s.node(pointwise({{EpilogueStep::Kind::bias}}), {x, weights(s, {2, 3, 1}), bias});
             return Ids{quantize(s, s.elementwise("max(x0,0)", {c}), 2, -128).stored};
         },
         "%0 = convolution epilogue=bias,requantize_onnx result=i8 (x0, 2x3x1, 1, 2, 2, 1, 2)\n-> %0"},
        {"a constant of integers is added",
         [](Sketch &s) {
             const auto sums =
                 s.node(pointwise(), {stored_input(s, {1, 3, 4}),
                                      s.integers({2, 3, 1}, {1, -2, 3, -4, 5, -6}, Element::i8), s.integers({1}, {3})});
             const auto all = s.elementwise("mul(f32(add(x0,x1)),0.25)", {sums, s.integers({2, 1}, {100, -70})});
             return Ids{quantize(s, all, 2, -128).stored};
         },
         "%0 = convolution epilogue=bias,requantize_onnx result=i8 (x0, 2x3x1, 1, 2, 2, 1, 2)\n-> %0"},
        {"a scale for each channel, result u8 of i8",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5});
             const auto c = s.node(pointwise(), {x, weights(s, {2, 3, 1}, {0.5, 0.25})});
             return Ids{quantize(s, c, 1, 7, Element::u8).stored};
         },
         "%0 = convolution epilogue=requantize_onnx result=u8 (x0, 2x3x1, 1, 2, 1, 2)\n-> %0"},
        {"a bias that is no whole multiple stays a float",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5});
             const auto c =
                 s.node(pointwise({{EpilogueStep::Kind::bias}}), {x, weights(s, {2, 3, 1}), s.constant({2}, {0.3, 1})});
             return Ids{quantize(s, c, 1).stored};
         },
         "%0 = convolution (x0, 2x3x1, 1)\n"
         "%1 = elementwise add(mul(f32(x0),x1),x2) shape=1x2x4 (%0, 1x2x1, 1x2x1)\n"
         "%2 = elementwise i8(min(max(round(div(x0,x1)),-128),127)) shape=1x2x4 (%1, scalar)\n-> %2"},
        {"so does one that is a whole multiple but for three eighths of a unit",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5});
             const auto bias = s.constant({2}, {(1048576 + 0.375) * 0.25, 1});
             const auto c = s.node(pointwise({{EpilogueStep::Kind::bias}}), {x, weights(s, {2, 3, 1}), bias});
             return Ids{quantize(s, c, 1).stored};
         },
         "%0 = convolution (x0, 2x3x1, 1)\n"
         "%1 = elementwise add(mul(f32(x0),x1),x2) shape=1x2x4 (%0, 1x2x1, 1x2x1)\n"
         "%2 = elementwise i8(min(max(round(div(x0,x1)),-128),127)) shape=1x2x4 (%1, scalar)\n-> %2"},
        {"a bias that is a whole multiple but for the rounding of its scale and of itself",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.1F});
             const float unit = 0.1F * 0.3F, bias = 1000003 * unit;
             const auto c = s.node(pointwise({{EpilogueStep::Kind::bias}}),
                                   {x, weights(s, {2, 3, 1}, {0.3F}), s.constant({2}, {bias, -bias})});
             return Ids{quantize(s, c, 1, 7).stored};
         },
         "%0 = convolution epilogue=bias,requantize_onnx result=i8 (x0, 2x3x1, 1, 2, 2, 1, 2)\n-> %0"},
        {"a channel with scale 0 and no bias",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5, 3});
             const auto c = s.node(pointwise({{EpilogueStep::Kind::bias}}),
                                   {x, weights(s, {2, 3, 1}, {0, 0.5}), s.constant({2}, {0, 25})});
             return Ids{quantize(s, s.elementwise("max(x0,-3)", {c}), 2, 7).stored};
         },
         "%0 = convolution epilogue=bias,requantize_onnx result=i8 (x0, 2x3x1, 1, 2, 2, 1, 2)\n-> %0"},
        {"a channel with scale 0 and a bias, which stays a float",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5, 3});
             const auto c = s.node(pointwise({{EpilogueStep::Kind::bias}}),
                                   {x, weights(s, {2, 3, 1}, {0, 0.5}), s.constant({2}, {5, 25})});
             return Ids{quantize(s, c, 2).stored};
         },
         "%0 = convolution (x0, 2x3x1, 1)\n"
         "%1 = elementwise add(mul(f32(x0),x1),x2) shape=1x2x4 (%0, 1x2x1, 1x2x1)\n"
         "%2 = elementwise i8(min(max(round(div(x0,x1)),-128),127)) shape=1x2x4 (%1, scalar)\n-> %2"},
        {"sums that are multiplied by 0",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5, 3});
             const auto c = s.node(pointwise(), {x, weights(s, {2, 3, 1})});
             return Ids{quantize(s, s.elementwise("mul(x0,x1)", {c, s.constant({2, 1}, {0, 2})}), 2, 7).stored};
         },
         "%0 = convolution epilogue=requantize_onnx result=i8 (x0, 2x3x1, 1, 2, 1, 2)\n-> %0"},
        {"sums that another node reads as floats",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5});
             const auto c = s.node(pointwise(), {x, weights(s, {2, 3, 1})});
             return Ids{c, quantize(s, c, 1).stored};
         },
         "%0 = convolution (x0, 2x3x1, 1)\n%1 = elementwise mul(f32(x0),x1) shape=1x2x4 (%0, 1x2x1)\n"
         "%2 = elementwise i8(min(max(round(div(x0,x1)),-128),127)) shape=1x2x4 (%1, scalar)\n-> %1 %2"},
        {"an average is a sum of ones",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5, 3});
             return Ids{quantize(s, s.node(pool(Pool::Kind::average), {x}), 1).stored};
         },
         "%0 = convolution strides=2 groups=3 epilogue=requantize_onnx result=i8 (x0, 3x1x2, 1, 3, 1, 2)\n-> %0"},
        {"an average whose padding does not count is divided at each position",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5, 3});
             Pool op = pool(Pool::Kind::average);
             op.padding = {{1, 1}};
             return Ids{quantize(s, s.node(op, {x}), 1).stored};
         },
         "%0 = convolution strides=2 padding=1,1 groups=3 (x0, 3x1x2, 1)\n"
         "%1 = elementwise div(mul(f32(x0),x1),x2) shape=1x3x3 (%0, scalar, 1x1x3)\n"
         "%2 = elementwise i8(min(max(round(div(x0,x1)),-128),127)) shape=1x3x3 (%1, scalar)\n-> %2"},
        {"a product of activations, exact in f32",
         [](Sketch &s) {
             const auto a = dequantize(s, {stored_input(s, {2, 3}), 0.5, 3}),
                        b = dequantize(s, {stored_input(s, {3, 2}), 2});
             return Ids{s.node(MatrixProduct{}, {a, b})};
         },
         "%0 = elementwise f32(sub(i32(x0),i32(x1))) shape=2x3 (x0, scalar)\n"
         "%1 = elementwise f32(sub(i32(x0),i32(x1))) shape=3x2 (x1, scalar)\n%2 = matrix_product (%0, %1)\n"
         "%3 = elementwise mul(x0,x1) shape=2x2 (%2, scalar)\n-> %3"},
        {"a product of activations up to 2^24",
         [](Sketch &s) {
             const auto a = dequantize(s, {stored_input(s, {2, 1024}), 0.5}),
                        b = dequantize(s, {stored_input(s, {1024, 2}), 2});
             return Ids{s.node(MatrixProduct{}, {a, b})};
         },
         "%0 = elementwise f32(sub(i32(x0),i32(x1))) shape=2x1024 (x0, scalar)\n"
         "%1 = elementwise f32(sub(i32(x0),i32(x1))) shape=1024x2 (x1, scalar)\n%2 = matrix_product (%0, %1)\n"
         "%3 = elementwise mul(x0,x1) shape=2x2 (%2, scalar)\n-> %3"},
        {"a product of activations beyond it",
         [](Sketch &s) {
             const auto a = dequantize(s, {stored_input(s, {2, 1025}), 0.5}),
                        b = dequantize(s, {stored_input(s, {1025, 2}), 2});
             return Ids{s.node(MatrixProduct{}, {a, b})};
         },
         "%0 = elementwise sub(i32(x0),i32(x1)) shape=2x1025 (x0, scalar)\n"
         "%1 = elementwise sub(i32(x0),i32(x1)) shape=1025x2 (x1, scalar)\n%2 = matrix_product (%0, %1)\n"
         "%3 = elementwise mul(f32(x0),x1) shape=2x2 (%2, scalar)\n-> %3"},
        {"a product of integers, whatever their zero points are",
         [](Sketch &s) {
             const ValueId a = offset_input(s, {2, 258}), b = offset_input(s, {258, 2});
             return Ids{s.node(MatrixProduct{}, {a, b})};
         },
         "%0 = elementwise f32(sub(i32(x0),i32(x1))) shape=2x258 (x0, x1)\n"
         "%1 = elementwise f32(sub(i32(x0),i32(x1))) shape=258x2 (x2, x3)\n%2 = matrix_product (%0, %1)\n"
         "%3 = elementwise i32(x0) shape=2x2 (%2)\n-> %3"},
        {"a product of integers that may leave f32",
         [](Sketch &s) {
             const ValueId a = offset_input(s, {2, 259}), b = offset_input(s, {259, 2});
             return Ids{s.node(MatrixProduct{}, {a, b})};
         },
         "%0 = elementwise sub(i32(x0),i32(x1)) shape=2x259 (x0, x1)\n"
         "%1 = elementwise sub(i32(x0),i32(x1)) shape=259x2 (x2, x3)\n%2 = matrix_product (%0, %1)\n-> %2"},
        {"weights with a scale for each channel are transposed with their scales",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3}), 0.5});
             const auto w = s.transpose(weights(s, {2, 3}, {0.5, 0.25}), {1, 0});
             return Ids{quantize(s, s.node(MatrixProduct{}, {x, w}), 1, 5).stored};
         },
         "%0 = reshape shape=1x3x1 (x0)\n%1 = convolution epilogue=requantize_onnx result=i8 (%0, 2x3x1, 1, 2, 1, 2)\n"
         "%2 = reshape shape=1x2 (%1)\n-> %2"},
        {"those of a transposed convolution are split into groups, transposed and turned about with their scales",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 4, 4}), 0.5, 3});
             const Shape shape{4, 3, 2};
             std::vector<int64_t> stored;
             for (int64_t i = 0; i < 24; i++) stored.push_back(i * 7 % 23 - 11);
             ValueId w = s.node(Elementwise{dequantization(ZeroPoint::operand), shape},
                                {s.integers(shape, stored, Element::i8), s.constant({1, 3, 1}, {0.5, 0.25, 1}),
                                 s.integers({1, 3, 1}, {0, 120, -2}, Element::i8)});  // more than leave weights of i8
             w = s.reshape(s.transpose(s.reshape(w, {2, 2, 3, 2}), {0, 2, 1, 3}), {6, 2, 2});
             w = s.node(Resample{{{.axis = 2, .taps = 1, .indices = {1, 0}, .weights = {}}}, 0}, {w});
             const Convolution op{
                 .strides = {1}, .input_dilation = {2}, .dilations = {1}, .padding = {{1, 1}}, .groups = 2};
             return Ids{quantize(s, s.node(op, {x, w}), 1, 5).stored};
         },
         "%0 = convolution input_dilation=2 padding=1,1 groups=2 epilogue=requantize_onnx kernel_zero_point result=i8 "
         "(x0, 6x2x2, 1, 6, 6, 1, 2)\n-> %0"},
        {"a product, with an addition behind it",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {4, 3}), 0.5, 3});
             const auto p = s.node(MatrixProduct{}, {x, weights(s, {3, 2})});
             return Ids{
                 quantize(s, s.elementwise("add(x0,x1)", {p, dequantized_constant(s, {2}, {4, 5}, {0.25})}), 1).stored};
         },
         "%0 = transpose permutation=1,0 (x0)\n%1 = reshape shape=1x3x4 (%0)\n"
         "%2 = convolution epilogue=bias,requantize_onnx result=i8 (%1, 2x3x1, 1, 2, 2, 1, 2)\n"
         "%3 = transpose permutation=0,2,1 (%2)\n%4 = reshape shape=4x2 (%3)\n-> %4"},
        {"weights that are floats stay floats",
         [](Sketch &s) {
             const auto x = dequantize(s, {stored_input(s, {1, 3, 4}), 0.5});
             return Ids{s.node(pointwise(), {x, s.constant({1, 3, 1}, {1, 2, 3})})};
         },
         "%0 = elementwise mul(f32(x0),x1) shape=1x3x4 (x0, scalar)\n%1 = convolution (%0, 1x3x1)\n-> %1"},
    };
    expect_rows(rows, all_of_quantization, {.tolerance = 0});
}

// Its padding makes more positions than anybody could list.
TEST(QuantizeSums, leaves_endless_averages) {
    constexpr int64_t far = int64_t{1} << 30;
    for (const bool is_stored : {false, true}) {
        Sketch s;
        const ValueId x = is_stored ? dequantize(s, {stored_input(s, {1, 1, 4}), 0.5}) : s.input({1, 1, 4});
        const Pool pool{.kind = Pool::Kind::average,
                        .window = {3},
                        .strides = {1},
                        .dilations = {1},
                        .padding = {{far, far}},
                        .beyond = {0}};
        const ValueId y = s.node(pool, {x});
        const Graph graph = std::move(s).finish({y});
        EXPECT_EQ(told(quantize_sums(graph)), told(graph));
    }
}

// Scales are powers of two, so floats are exact until the last rounding, and results are equal.
TEST(QuantizedGraphs, compute_the_same_behind_each_pass) {
    for (uint64_t i = 0; i < 150 && !testing::Test::HasFailure(); i++) {
        const uint64_t seed = test_seed() * 1000000 + i;
        SCOPED_TRACE(seed);
        Graph graph = quantized_graph(seed);
        const Graph before = graph;
        for (const Pass &pass : passes()) {
            SCOPED_TRACE(pass.name);
            expect_same_results(graph, pass.run, seed, {.tolerance = 0});
            graph = pass.run(graph);
        }
        expect_equal_outputs(before, graph, seed, {.tolerance = 0});
    }
}

// What remains of weights of u8 when 128 or so is taken from them.
TEST(CenterWeights, table) {
    struct Quantities {
        std::vector<int64_t> weights;  // two outputs of two channels
        Element type;
        std::optional<std::vector<int64_t>> points;
    };
    const auto convolved = [](const Quantities &of) {
        return [of](Sketch &s) {
            Convolution op{.strides = {1}, .input_dilation = {1}, .dilations = {1}, .padding = {{1, 0}}};
            op.kernel_zero_point = of.points.has_value();
            Ids inputs{s.input({1, 2, 4}, Element::u8), s.integers({2, 2, 1}, of.weights, of.type),
                       s.integers({1}, {7})};
            if (of.points) inputs.push_back(s.integers({2}, *of.points));
            inputs.push_back(s.integers({2}, {5, -5}));
            op.epilogue = {{EpilogueStep::Kind::bias}};
            return Ids{s.node(op, inputs)};
        };
    };
    const char *centered = "%0 = convolution padding=1,0 epilogue=bias (x0, 2x2x1, 1, 2)\n-> %0";
    const char *pointed = "%0 = convolution padding=1,0 epilogue=bias kernel_zero_point (x0, 2x2x1, 1, 2, 2)\n-> %0";
    const std::vector<Row> rows{
        {"all of u8 around 128", convolved({{0, 255, 1, 128}, Element::u8, {{128, 128}}}), centered},
        {"seven bits", convolved({{70, 127, 3, 0}, Element::u8, {{60, 64}}}), centered},
        {"no zero point", convolved({{70, 127, 3, 0}, Element::u8, {}}), centered},
        {"more than i8", convolved({{0, 249, 1, 128}, Element::u8, {{121, 121}}}), pointed},
        {"less than i8", convolved({{0, 2, 1, 128}, Element::u8, {{129, 129}}}), pointed},
        {"of i8", convolved({{-100, 100, 1, -1}, Element::i8, {{5, -5}}}), centered},
        {"beyond i8", convolved({{-124, 100, 1, -1}, Element::i8, {{5, -5}}}), pointed},
    };
    expect_rows(rows, center_weights);
}

}  // namespace
}  // namespace kiln::graph
