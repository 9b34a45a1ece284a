// Additions of quantized tensors in epilogues.
#include "graph/passes/passes.h"
#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/rows.h"

namespace kiln::graph {
namespace {

// The convolution's own number has the scale 0.25 and the zero point 3.
ValueId quantized_convolution(Sketch &s, ValueId x) {
    Convolution op{.strides = {1}, .input_dilation = {1}, .dilations = {1}, .padding = {{0, 0}}};
    op.epilogue = {{EpilogueStep::Kind::requantize_onnx}};
    op.result_type = Element::i8;
    const ValueId w = s.integers({3, 3, 1}, {5, -2, 3, -4, 5, 6, 1, -7, 8}, Element::i8);
    return s.node(op, {x, w, s.integers({1}, {1}), s.constant({3}, {0.2, 0.1, 0.3}), s.integers({1}, {3}),
                       s.integers({2}, {-128, 127})});
}

Graph with_fused_additions(const Graph &graph) {
    return multiply_quanta(fuse_quantized_additions(fuse_elementwise(graph)));
}

TEST(FuseQuantizedAdditions, table) {
    const std::vector<Row> rows{
        {"a residual connection with relu",
         [](Sketch &s) {
             const auto x = s.input({1, 3, 4}, Element::i8);
             const auto c = quantized_convolution(s, x);
             const auto sum =
                 s.elementwise("max(add(x0,x1),0)", {dequantize(s, {c, 0.25, 3}), dequantize(s, {x, 0.5})});
             return Ids{quantize(s, sum, 0.45, -5).stored};
         },
         "%0 = convolution epilogue=requantize_onnx,add result=i8 (x0, 3x3x1, 1, 3, 1, 2, x0, 3, 1, 2)\n-> %0"},
        {"of two convolutions the last one adds",
         [](Sketch &s) {
             const auto x = s.input({1, 3, 4}, Element::i8);
             const auto a = quantized_convolution(s, x), b = quantized_convolution(s, a);
             const auto sum = s.elementwise("add(x0,x1)", {dequantize(s, {a, 0.25, 3}), dequantize(s, {b, 0.25, 3})});
             return Ids{quantize(s, sum, 0.45, -5).stored};
         },
         "%0 = convolution epilogue=requantize_onnx result=i8 (x0, 3x3x1, 1, 3, 1, 2)\n"
         "%1 = convolution epilogue=requantize_onnx,add result=i8 (%0, 3x3x1, 1, 3, 1, 2, %0, 3, 1, 2)\n-> %1"},
        {"what another node reads, too, is stored",
         [](Sketch &s) {
             const auto x = s.input({1, 3, 4}, Element::i8);
             const auto c = quantized_convolution(s, x);
             const auto sum = s.elementwise("add(x0,x1)", {dequantize(s, {c, 0.25, 3}), dequantize(s, {x, 0.5})});
             return Ids{c, quantize(s, sum, 0.45, -5).stored};
         },
         "%0 = convolution epilogue=requantize_onnx result=i8 (x0, 3x3x1, 1, 3, 1, 2)\n"
         "%1 = elementwise i8(round(min(max(add(add(mul(f32(x0),x2),mul(f32(x1),x3)),x4),-128),127))) shape=1x3x4 "
         "(x0, %0, scalar, scalar, scalar)\n-> %0 %1"},
        {"numbers of another type are stored",
         [](Sketch &s) {
             const auto x = s.input({1, 3, 4}, Element::i8);
             const auto y = s.input({1, 3, 4}, Element::u8);
             const auto c = quantized_convolution(s, x);
             const auto sum = s.elementwise("add(x0,x1)", {dequantize(s, {c, 0.25, 3}), dequantize(s, {y, 0.5})});
             return Ids{quantize(s, sum, 0.45, -5).stored};
         },
         "%0 = convolution epilogue=requantize_onnx result=i8 (x0, 3x3x1, 1, 3, 1, 2)\n"
         "%1 = elementwise i8(round(min(max(max(add(add(mul(f32(x0),x2),mul(f32(x1),x3)),x4),x5),-128),127))) "
         "shape=1x3x4 "
         "(x1, %0, scalar, scalar, scalar, scalar)\n-> %1"},
    };
    expect_rows(rows, with_fused_additions, {.tolerance = 0});
}

}  // namespace
}  // namespace kiln::graph
