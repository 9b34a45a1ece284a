// Why nodes of quantized networks compute with floats.
#include "graph/passes/float_notes.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/rows.h"

namespace kiln::graph {
namespace {

Convolution pointwise() {
    return {.strides = {1}, .input_dilation = {1}, .dilations = {1}, .padding = {{0, 0}}, .epilogue = {}};
}

ValueId weights(Sketch &s, const Shape &shape, std::vector<double> scales = {0.5}) {
    return dequantized_constant(s, shape, std::vector<int64_t>(*element_count(shape), 2), std::move(scales));
}

ValueId quantized_input(Sketch &s, const Shape &shape, Element type = Element::i8) {
    return dequantize(s, {s.input(shape, type), 0.5});
}

TEST(FloatNotes, table) {
    const struct {
        const char *what;
        std::function<ValueId(Sketch &)> number;  // which is quantized
        std::vector<std::string> whys;
    } table[] = {
        {"integer sums have none",
         [](Sketch &s) {
             return s.node(pointwise(), {quantized_input(s, {1, 3, 4}), weights(s, {2, 3, 1})});
         },
         {}},
        {"what is element-wise has none",
         [](Sketch &s) {
             return s.elementwise("sqrt(x0)", {quantized_input(s, {1, 3, 4})});
         },
         {}},
        {"an input of floats",
         [](Sketch &s) {
             return s.node(pointwise(), {s.input({1, 3, 4}), weights(s, {2, 3, 1})});
         },
         {"its input is not quantized"}},
        {"weights of floats",
         [](Sketch &s) {
             return s.node(pointwise(), {quantized_input(s, {1, 3, 4}), s.random({2, 3, 1})});
         },
         {"its weights are not quantized"}},
        {"weights with scales along their inputs",
         [](Sketch &s) {
             return s.node(MatrixProduct{}, {quantized_input(s, {4, 3}), weights(s, {3, 2}, {0.5, 0.25, 1})});
         },
         {"its weights, or their scales, are no constants of i8 or u8 with one scale an output"}},
        {"weights with scales along an axis that is cropped",
         [](Sketch &s) {
             const ValueId w = s.pad(weights(s, {3, 3, 1}, {0.5, 0.25, 1}), 0, 0, -1);
             return s.node(pointwise(), {quantized_input(s, {1, 3, 4}), w});
         },
         {"its weights, or their scales, are no constants of i8 or u8 with one scale an output"}},
        {"16 bits",
         [](Sketch &s) {
             return s.node(pointwise(), {quantized_input(s, {1, 3, 4}, Element::i16), weights(s, {2, 3, 1})});
         },
         {"its input is quantized to more than 8 bits"}},
        {"sums that may overflow",
         [](Sketch &s) {
             return s.node(pointwise(), {quantized_input(s, {1, 70000, 1}), weights(s, {1, 70000, 1})});
         },
         {"its sums may be larger than i32 holds"}},
        {"products",
         [](Sketch &s) {
             const ValueId first = s.node(MatrixProduct{}, {s.input({2, 3}), weights(s, {3, 2})});
             return s.node(MatrixProduct{}, {quantized_input(s, {4, 2}), first});
         },
         {"its input is not quantized", "its input is not quantized"}},
        {"products of stored numbers in f32 have none",
         [](Sketch &s) {
             return s.node(MatrixProduct{}, {quantized_input(s, {4, 2}), quantized_input(s, {2, 3})});
         },
         {}},
        {"softmax",
         [](Sketch &s) {
             return s.node(Normalize{.axes = {1}}, {quantized_input(s, {2, 3})});
         },
         {"kiln computes it with floats only"}},
    };
    for (const auto &row : table) {
        Sketch s;
        const ValueId number = row.number(s);
        const ValueId result = quantize(s, number, 1).stored;
        const Graph graph = std::move(s).finish({result});
        std::vector<std::string> whys;
        for (const FloatNote &note : float_notes(graph)) whys.emplace_back(note.why);
        EXPECT_EQ(whys, row.whys) << row.what << "\n" << told(graph);
    }
}

TEST(FloatNotes, ThereAreNoneWhereNothingIsQuantized) {
    Sketch s;
    const ValueId y = s.node(pointwise(), {s.input({1, 3, 4}), s.random({2, 3, 1})});
    EXPECT_TRUE(float_notes(std::move(s).finish({y})).empty());
}

}  // namespace
}  // namespace kiln::graph
