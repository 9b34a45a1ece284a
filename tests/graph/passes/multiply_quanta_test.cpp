// Quantized element-wise nodes that multiply by whole numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "graph/evaluate/evaluate.h"
#include "graph/passes/functions/integer_multiples.h"
#include "graph/passes/passes.h"
#include "graph/quantized_forms.h"
#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/rows.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

Graph fused_and_multiplied(const Graph &graph) { return multiply_quanta(fuse_elementwise(graph)); }

TEST(MultiplyQuanta, table) {
    const std::vector<Row> rows{
        {"an addition with relu",
         [](Sketch &s) {
             const auto a = dequantize(s, {s.input({4}, Element::i8), 0.3, 3}),
                        b = dequantize(s, {s.input({4}, Element::i8), 0.7});
             return Ids{quantize(s, s.elementwise("max(add(x0,x1),0)", {a, b}), 0.45, -5).stored};
         },
         "%0 = elementwise i8(round(min(max(max(add(add(mul(f32(x0),x2),mul(f32(x1),x3)),x4),x5),-128),127))) shape=4 "
         "(x0, x1, scalar, scalar, scalar, scalar)\n-> %0"},
        {"another scale",
         [](Sketch &s) {
             return Ids{quantize(s, dequantize(s, {s.input({4}, Element::u8), 0.3, 128}), 0.5, 0, Element::u8).stored};
         },
         "%0 = elementwise u8(round(min(min(max(add(mul(f32(x0),x1),x2),0),x3),255))) shape=4 "
         "(x0, scalar, scalar, scalar)\n-> %0"},
        {"halves and an odd zero point",
         [](Sketch &s) {
             return Ids{quantize(s, dequantize(s, {s.input({4}, Element::i8), 0.5}), 1, 1).stored};
         },
         "%0 = elementwise i8(add(round(min(min(max(max(add(mul(f32(x0),x1),x2),x3),-129),x4),126)),1)) shape=4 "
         "(x0, scalar, scalar, scalar, scalar)\n-> %0"},
        {"functions that are no multiples divide",
         [](Sketch &s) {
             const auto x = dequantize(s, {s.input({4}, Element::i8), 0.3});
             return Ids{quantize(s, s.elementwise("sigmoid(x0)", {x}), 0.01).stored};
         },
         "%0 = elementwise i8(min(max(round(div(sigmoid(mul(x1,f32(x0))),x2)),-128),127)) shape=4 (x0, scalar, "
         "scalar)\n"
         "-> %0"},
        {"bends between the bounds divide",
         [](Sketch &s) {
             const auto x = dequantize(s, {s.input({4}, Element::i8), 0.3}),
                        y = dequantize(s, {s.input({4}, Element::i8), 0.3});
             return Ids{quantize(s, s.elementwise("add(max(x0,0),x1)", {x, y}), 0.6).stored};
         },
         "%0 = elementwise i8(min(max(round(div(add(mul(x3,f32(x1)),max(mul(x2,f32(x0)),0)),x4)),-128),127)) shape=4 "
         "(x0, x1, scalar, scalar, scalar)\n-> %0"},
        {"what is not known to be a stored number is divided",
         [](Sketch &s) { return Ids{quantize(s, s.input({4}), 0.3).stored}; },
         "%0 = elementwise i8(min(max(round(div(x0,x1)),-128),127)) shape=4 (x0, scalar)\n-> %0"},
    };
    expect_rows(rows, fused_and_multiplied, {.tolerance = 0});
}

bool divides(const Graph &graph) { return told(graph).find("div(") != std::string::npos; }

// A sum of two quantized numbers, of both all values, in rows and columns.
struct AllSums {
    Graph graph;
    std::vector<Numbers> inputs;
};

// `is_wide`: results have a range as of networks, in which most sums have a place.
AllSums drawn_sums(uint64_t i, bool is_wide = false) {
    const uint64_t seed = test_seed() * 1000000 + i;
    Sketch s(seed);
    const auto scale = [&] { return i % 4 == 0 ? std::exp2(std::round(s.draw(-4, 1))) : s.draw(0.003, 0.2); };
    const auto zero_point = [&](Element type) {
        return static_cast<int64_t>(std::floor(s.draw(0, 256))) - (type == Element::i8 ? 128 : 0);
    };
    const Element first = i % 2 ? Element::i8 : Element::u8, second = i % 3 ? Element::i8 : Element::u8;
    const double first_scale = scale(), second_scale = scale();
    const auto a = dequantize(s, {s.input({256, 256}, first), first_scale, zero_point(first)});
    const auto b = dequantize(s, {s.input({256, 256}, second), second_scale, zero_point(second)});
    const double result_scale = is_wide ? std::max(first_scale, second_scale) * s.draw(0.8, 2) : scale();
    const auto sum = s.elementwise(i % 5 ? "add(x0,x1)" : "max(sub(x0,x1),0)", {a, b});
    const ValueId stored = quantize(s, sum, result_scale, zero_point(first), first).stored;
    AllSums made{fuse_elementwise(std::move(s).finish({stored})), {}};
    std::vector<int64_t> rows, columns;
    for (int64_t at = 0; at < 65536; at++) {
        rows.push_back(at / 256 - (first == Element::i8 ? 128 : 0));
        columns.push_back(at % 256 - (second == Element::i8 ? 128 : 0));
    }
    for (const auto &[input, values] : {std::pair(0, rows), std::pair(1, columns)})
        made.inputs.push_back({made.graph.values[made.graph.inputs[input]].form, values});
    return made;
}

// About 3 sums in 1000 have no multiples that round all pairs of numbers to the same sides: those stay divided.
TEST(MultiplyQuanta, results_of_all_operands_are_equal) {
    int divided = 0;
    for (uint64_t i = 0; i < 20; i++) {
        SCOPED_TRACE(test_seed() * 1000000 + i);
        const AllSums sums = drawn_sums(i, i % 2 == 0);
        const Graph after = multiply_quanta(sums.graph);
        EXPECT_TRUE(divides(sums.graph));
        EXPECT_TRUE(*evaluate(sums.graph, sums.inputs) == *evaluate(after, sums.inputs)) << told(after);
        divided += divides(after);
    }
    EXPECT_LE(divided, 2);
}

bool has_floats(const Graph &graph) { return told(graph).find("f32(") != std::string::npos; }

// Where scales are powers of two, halves go to the even side, which no sum of integers does. Beside halves f32 may be rounded to either
// side, which hardly any sum does where steps are large.
TEST(IntegerMultiples, results_of_all_operands_are_equal) {
    int without_floats = 0;
    for (uint64_t i = 0; i < 40; i++) {
        SCOPED_TRACE(test_seed() * 1000000 + i);
        const AllSums sums = drawn_sums(i, i >= 20);
        const Graph multiplied = i % 2 ? multiply_quanta(sums.graph) : sums.graph;
        const Graph after = with_integer_multiples(multiplied);
        EXPECT_TRUE(*evaluate(sums.graph, sums.inputs) == *evaluate(after, sums.inputs)) << told(after);
        without_floats += i >= 20 && !has_floats(after);
    }
    EXPECT_GE(without_floats, 16);  // of 20
}

TEST(IntegerMultiples, table) {
    const struct {
        const char *what;
        ValueId (*draw)(Sketch &);
        bool is_in_integers;
    } rows[] = {
        {"a requantization",
         [](Sketch &s) {
             return quantize(s, dequantize(s, {s.input({4}, Element::u8), 0.3, 9}), 0.77, -3).stored;
         },
         true},
        {"one that saturates from the start",
         [](Sketch &s) {
             return quantize(s, dequantize(s, {s.input({4}, Element::i8), 0.3}), 0.001).stored;
         },
         true},
        {"one that answers one number",
         [](Sketch &s) {
             return quantize(s, dequantize(s, {s.input({4}, Element::i8), 0.0001}), 0.9, 4).stored;
         },
         true},
        {"a function that is no multiple",
         [](Sketch &s) {
             return quantize(s, s.elementwise("sigmoid(x0)", {dequantize(s, {s.input({4}, Element::i8), 0.3})}), 0.01)
                 .stored;
         },
         false},
        {"a bend between the bounds",
         [](Sketch &s) {
             const auto x = dequantize(s, {s.input({4}, Element::i8), 0.3}),
                        y = dequantize(s, {s.input({4}, Element::i8), 0.3});
             return quantize(s, s.elementwise("add(max(x0,0),x1)", {x, y}), 0.6).stored;
         },
         false},
        {"three numbers",
         [](Sketch &s) {
             const auto x = dequantize(s, {s.input({4}, Element::i8), 0.3}),
                        y = dequantize(s, {s.input({4}, Element::i8), 0.4}),
                        z = dequantize(s, {s.input({4}, Element::i8), 0.7});
             return quantize(s, s.elementwise("add(add(x0,x1),x2)", {x, y, z}), 0.6).stored;
         },
         false},
        {"numbers that are not stored", [](Sketch &s) { return quantize(s, s.input({4}), 0.3).stored; }, false},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.what);
        Sketch s(1);
        const ValueId stored = row.draw(s);
        const Graph before = fuse_elementwise(std::move(s).finish({stored}));
        const Graph after = with_integer_multiples(before);
        EXPECT_EQ(told(after).find("round(") == std::string::npos, row.is_in_integers) << told(after);
        EXPECT_EQ(told(after) == told(before), !row.is_in_integers);
        if (row.is_in_integers) expect_same_results(before, with_integer_multiples, test_seed(), {.tolerance = 0});
    }
}

// What quantizes and dequantizes on the way, in the form that expressions are simplified to.
TEST(MultiplyQuanta, Stages) {
    const std::string first = "min(max(add(round(div(x0,0.3)),3),0),255)";
    const auto behind = [&](const std::string &number, const std::string &scale) {
        return "sigmoid(mul(sub(min(max(add(round(div(" + number + "," + scale + ")),7),0),255),7),0.2))";
    };
    const auto of = [](std::string expression) {
        return [expression](Sketch &s) { return Ids{s.elementwise(expression, {s.input({4})})}; };
    };
    const std::string stored = "f32(sub(i32(u8(" + first + ")),i32:3))";
    const std::vector<Row> rows{
        {"the same number vanishes",
         of("sigmoid(mul(sub(min(max(add(round(div(mul(mul(sub(" + first + ",3),0.3),0.5),0.15)),3),0),255),3),0.15))"),
         "%0 = elementwise sigmoid(mul(sub(min(max(add(round(div(x0,0.3)),3),0),255),3),"
         "0.15)) shape=4 (x0)\n-> %0"},
        {"so does one that was cast on the way",
         of("sigmoid(mul(sub(min(max(add(round(div(mul(mul(" + stored + ",0.3),0.5),0.15)),3),0),255),3),0.15))"),
         "%0 = elementwise sigmoid(mul(sub(min(max(add(round(div(x0,0.3)),3),0),255),3),"
         "0.15)) shape=4 (x0)\n-> %0"},
        {"another one is multiplied", of(behind("mul(sub(" + first + ",3),0.3)", "0.7")),
         "%0 = elementwise sigmoid(mul(sub(min(max(round(add(mul(min(max(add(round(div(x0,0.3)),3),0),255),"
         "0.4285714328289032),5.714285850524902)),6),115),7),0.2)) shape=4 (x0)\n-> %0"},
        {"a function of it is divided", of(behind("exp(mul(sub(" + first + ",3),0.03))", "0.7")),
         "%0 = elementwise sigmoid(mul(sub(min(max(add(round(div(exp(mul(sub(min(max(add(round(div(x0,"
         "0.3)),3),0),255),3),0.03)),0.7)),7),0),255),7),0.2)) shape=4 (x0)\n-> %0"},
        {"so is what another number has a part in", of(behind("add(x0,mul(sub(" + first + ",3),0.3))", "0.7")),
         "%0 = elementwise sigmoid(mul(sub(min(max(add(round(div(add(x0,mul(sub(min(max(add(round(div(x0,"
         "0.3)),3),0),255),3),0.3)),0.7)),7),0),255),7),"
         "0.2)) shape=4 (x0)\n-> %0"},
    };
    expect_rows(rows, multiply_quanta);
}

// As a normalization between quantizations has them: factors and summands of channels, of an axis that need not be the last one.
TEST(MultiplyQuanta, StagesOfChannels) {
    for (const Shape &channels : {Shape{3, 1}, Shape{50}, Shape{1, 3, 1}}) {
        for (const bool is_stored : {false, true}) {
            SCOPED_TRACE(to_text(channels) + (is_stored ? " of a stored number" : " of a stage"));
            Sketch s(test_seed());
            const std::string first = is_stored ? "f32(x0)" : "min(max(add(round(div(x0,0.3)),3),0),255)";
            const ValueId x = s.input({2, 3, 50}, is_stored ? Element::u8 : Element::f32);
            const ValueId y =
                s.elementwise("u8(min(max(add(round(div(add(mul(sub(" + first + ",3),x1),x2),0.7)),7),0),255))",
                              {x, s.random(channels, 0.1, 1.5), s.random(channels, -9, 9)});
            const Graph before = std::move(s).finish({y}), after = multiply_quanta(before);
            expect_equal_outputs(before, after, test_seed(), {.lo = -30, .hi = 80});
            const std::string text = told(after);
            EXPECT_EQ(text.find("div("), is_stored ? std::string::npos : text.rfind("div(")) << text;
        }
    }
    // Constants of two axes are none of channels, and there may be too many of these.
    const std::pair<Shape, Shape> others[] = {{{3, 1}, {4}}, {{5000}, {5000}}};
    for (const auto &[first, second] : others) {
        Sketch s;
        const Graph before = std::move(s).finish(
            {s.elementwise("u8(min(max(round(div(mul(mul(f32(x0),x1),x2),0.7)),0),255))",
                           {s.input({3, second[0]}, Element::u8), s.random(first), s.random(second)})});
        EXPECT_EQ(told(multiply_quanta(before)), told(before));
    }
}

// The sum of a stage and a stored number.
TEST(MultiplyQuanta, StagesOfTwo) {
    Sketch s(test_seed());
    const ValueId y = s.elementwise(
        "sigmoid(mul(sub(min(max(add(round(div(add(mul(sub(min(max(add(round(div(x0,0.3)),3),0),255),3),0.3),"
        "mul(f32(x1),0.2)),0.7)),7),0),255),7),0.2))",
        {s.input({400}), s.input({400}, Element::i8)});
    const Graph before = std::move(s).finish({y}), after = multiply_quanta(before);
    expect_equal_outputs(before, after, test_seed(), {.lo = -30, .hi = 80});
    const std::string text = told(after);
    EXPECT_EQ(text.find("div("), text.rfind("div(")) << text;  // that of x0
}

}  // namespace
}  // namespace kiln::graph
