// What is multiplied in front of a quantization is rounded as the model rounds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "graph/evaluate/evaluate.h"
#include "graph/passes/passes.h"
#include "graph/quantized_forms.h"
#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/sketch.h"

namespace kiln::graph {
namespace {

// Constants that follow each other become one, but in front of a quantization, where the model rounds each step.
TEST(RoundedSteps, table) {
    const auto times = [](Sketch &s, ValueId x) {
        return s.elementwise("mul(x0,0.699999988079071)", {x});
    };  // 0.7 as an f32
    const auto stored = [](Sketch &s) { return dequantize(s, {s.input({1, 16, 16}, Element::u8), 0.1F, 130}); };
    const Pool average{Pool::Kind::average, {2}, {2}, {1}, {{0, 0}}, {0}, false};
    const struct {
        const char *what;
        std::function<ValueId(Sketch &)> draw;
        int products;
    } rows[] = {
        {"one factor", [&](Sketch &s) { return quantize(s, times(s, stored(s)), 0.07F, 10, Element::u8).stored; }, 2},
        {"two factors",
         [&](Sketch &s) { return quantize(s, times(s, times(s, stored(s))), 0.07F, 10, Element::u8).stored; }, 3},
        {"two factors, a clamp and a transpose",
         [&](Sketch &s) {
             const auto number = s.elementwise("max(x0,0)", {times(s, times(s, stored(s)))});
             return quantize(s, s.transpose(number, {0, 2, 1}), 0.07F, 10, Element::u8).stored;
         },
         3},
        {"two factors in front of an average, which rounds sums in any order",
         [&](Sketch &s) {
             return quantize(s, s.node(average, {times(s, times(s, s.input({1, 2, 4})))}), 0.07F).stored;
         },
         1},
        {"two factors of what stays a float",
         [&](Sketch &s) {
             return times(s, times(s, s.input({1, 2, 4})));
         },
         1},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.what);
        Sketch s(1);
        const ValueId y = row.draw(s);
        const Graph before = std::move(s).finish({y});
        const Graph after = fuse_elementwise(fold_affine(before));
        const std::string text = told(after);
        int products = 0;
        for (size_t at = text.find("mul("); at != std::string::npos; at = text.find("mul(", at + 1)) products++;
        EXPECT_EQ(products, row.products) << text;
    }
}

// In f32, step by step. With one factor for both, 155, 195 and 255 have other results.
TEST(RoundedSteps, QuantaAreThoseOfTheModel) {
    Sketch s(1);
    const auto times = [&](ValueId x) { return s.elementwise("mul(x0,0.699999988079071)", {x}); };  // 0.7 as an f32
    const ValueId x = dequantize(s, {s.input({256}, Element::u8), 0.1F, 130});
    const ValueId y = quantize(s, times(times(x)), 0.07F, 10, Element::u8).stored;
    const Graph graph = *run_passes(std::move(s).finish({y}));
    std::vector<int64_t> stored(256), expected;
    std::iota(stored.begin(), stored.end(), 0);
    for (const int64_t quantum : stored) {
        float number = static_cast<float>(quantum - 130) * 0.1F;
        for (int i = 0; i < 2; i++) number *= 0.7F;
        expected.push_back(std::clamp(std::nearbyint(number / 0.07F) + 10, 0.0F, 255.0F));
    }
    const auto outputs = evaluate(graph, {{{Element::u8, {256}}, std::move(stored)}});
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(std::get<1>(outputs->at(0).elements), expected) << told(graph);
}

}  // namespace
}  // namespace kiln::graph
