// Nodes that together are a function with a name, and the normal form of element-wise nodes.
#include "graph/passes/passes.h"
#include "tests/graph/passes/rows.h"

namespace kiln::graph {
namespace {

TEST(SimplifyElementwise, table) {
    const std::vector<Row> rows{
        {"constants of one number are numbers, each input stands once and in order",
         [](Sketch &s) {
             const auto a = s.input({2, 3}), b = s.input({2, 3});
             return Ids{s.elementwise("add(mul(x0,x1),sub(x2,x3))", {b, s.constant({1, 1}, {2}), a, b})};
         },
         "%0 = elementwise add(sub(x0,x1),mul(x1,2)) shape=2x3 (x0, x1)\n-> %0"},
        {"also those that hold one number many times",
         [](Sketch &s) {
             return Ids{s.elementwise("add(x0,x1)", {s.input({2, 2}), s.constant({2}, {3, 3})})};
         },
         "%0 = elementwise add(x0,3) shape=2x2 (x0)\n-> %0"},
        {"nothing is computed",
         [](Sketch &s) {
             return Ids{s.elementwise("add(x0,x1)", {s.input({2, 2}), s.constant({2}, {0, 0})})};
         },
         "-> x0"},
        {"nothing is computed, but axes are added",
         [](Sketch &s) {
             return Ids{s.elementwise("mul(x0,x1)", {s.input({2}), s.constant({1, 1}, {1})})};
         },
         "%0 = reshape shape=1x2 (x0)\n-> %0"},
        {"what is repeated stays",
         [](Sketch &s) {
             return Ids{s.elementwise("mul(x0,x1)", {s.input({2, 1}), s.constant({1, 3}, {1, 1, 1})})};
         },
         "%0 = elementwise x0 shape=2x3 (x0)\n-> %0"},
        {"a square",
         [](Sketch &s) {
             const auto x = s.input({2});
             return Ids{s.elementwise("mul(x0,x1)", {x, x})};
         },
         "%0 = elementwise pow(x0,2) shape=2 (x0)\n-> %0"},
        {"what depends on constants alone is computed",
         [](Sketch &s) {
             const auto c = s.elementwise("add(x0,x1)", {s.constant({2}, {1, 2}), s.constant({2}, {-1, -2})});
             return Ids{s.elementwise("mul(x0,x1)", {s.input({2}), s.elementwise("exp(x0)", {c})})};
         },
         "-> x0"},
    };
    expect_rows(rows, simplify_elementwise);
}

TEST(NameActivations, table) {
    const std::vector<Row> rows{
        {"SiLU",
         [](Sketch &s) {
             const auto x = s.elementwise("add(x0,x1)", {s.input({2}), s.input({2})});
             return Ids{s.elementwise("mul(x0,x1)", {x, s.elementwise("sigmoid(x0)", {x})})};
         },
         "%0 = elementwise add(x0,x1) shape=2 (x0, x1)\n%1 = elementwise mul(x0,sigmoid(x0)) shape=2 (%0)\n-> %1"},
        {"hard-swish, a node each",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 3});
             const auto a = s.elementwise("min(max(x0,0),6)", {s.elementwise("add(x0,3)", {x})});
             return Ids{s.elementwise("div(x0,6)", {s.elementwise("mul(x0,x1)", {x, a})})};
         },
         "%0 = elementwise mul(x0,min(max(add(mul(x0,0.1666666716337204),0.5),0),1)) shape=1x2x3 (x0)\n-> %0"},
        {"hard-swish of a hard sigmoid",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 3});
             const auto a = s.elementwise("max(0,min(1,add(mul(x0,0.16666667),0.5)))", {x});
             return Ids{s.elementwise("mul(x0,x1)", {x, a})};
         },
         "%0 = elementwise mul(x0,min(max(add(mul(x0,0.1666666716337204),0.5),0),1)) shape=1x2x3 (x0)\n-> %0"},
        {"GELU",
         [](Sketch &s) {
             const auto x = s.input({4});
             const auto e = s.elementwise("erf(x0)", {s.elementwise("div(x0,1.4142135)", {x})});
             const auto p = s.elementwise("mul(x0,x1)", {x, s.elementwise("add(x0,1)", {e})});
             return Ids{s.elementwise("mul(x0,0.5)", {p})};
         },
         "%0 = elementwise mul(x0,add(mul(erf(mul(x0,0.7071067690849304)),0.5),0.5)) shape=4 (x0)\n-> %0"},
        {"GELU with tanh, its power as a product with the constant inside",
         [](Sketch &s) {
             const auto x = s.input({4});
             const auto power = s.elementwise("mul(x0,mul(x0,mul(x0,0.044715)))", {x});
             const auto t = s.elementwise("tanh(mul(add(x0,x1),0.7978846))", {x, power});
             return Ids{s.elementwise("mul(x0,mul(add(x1,1),0.5))", {x, t})};
         },
         "%0 = elementwise "
         "mul(x0,add(mul(tanh(mul(add(x0,mul(pow(x0,3),0.044714998453855515)),0.7978845834732056)),0.5),0.5))"
         " shape=4 (x0)\n-> %0"},
        {"not where an output needs what is in between",
         [](Sketch &s) {
             const auto x = s.input({2});
             const auto a = s.elementwise("sigmoid(x0)", {x});
             return Ids{a, s.elementwise("mul(x0,x1)", {x, a})};
         },
         "%0 = elementwise sigmoid(x0) shape=2 (x0)\n%1 = elementwise mul(x0,x1) shape=2 (x0, %0)\n-> %0 %1"},
        {"not of two values",
         [](Sketch &s) {
             return Ids{s.elementwise("mul(x0,x1)", {s.input({2}), s.elementwise("sigmoid(x0)", {s.input({2})})})};
         },
         "%0 = elementwise sigmoid(x0) shape=2 (x1)\n%1 = elementwise mul(x0,x1) shape=2 (x0, %0)\n-> %1"},
    };
    expect_rows(rows, name_activations);
}

ValueId mean(Sketch &s, ValueId x, std::vector<int> axes) {
    return s.node(Reduce{Reduce::Kind::mean, std::move(axes)}, {x});
}

TEST(NameNormalizations, table) {
    const std::vector<Row> rows{
        {"layer normalization as PyTorch writes it",
         [](Sketch &s) {
             const auto x = s.input({2, 3, 4});
             const auto d = s.elementwise("sub(x0,x1)", {x, mean(s, x, {2})});
             const auto v = mean(s, s.elementwise("pow(x0,2)", {d}), {2});
             const auto r = s.elementwise("sqrt(x0)", {s.elementwise("add(x0,0.125)", {v})});
             const auto n = s.elementwise("div(x0,x1)", {d, r});
             return Ids{s.elementwise("add(mul(x0,x1),x2)", {n, s.random({4}), s.random({4})})};
         },
         "%0 = mean_variance axes=2 epsilon=0.125 (x0)\n"
         "%1 = elementwise add(mul(x0,x1),x2) shape=2x3x4 (%0, 4, 4)\n-> %1"},
        {"with a reciprocal, two differences, and x itself a sum",
         [](Sketch &s) {
             const auto x = s.elementwise("add(x0,x1)", {s.input({2, 3, 4, 5}), s.input({4, 5})});
             const auto m = mean(s, x, {2, 3});
             const auto d = s.elementwise("sub(x0,x1)", {x, m}), e = s.elementwise("sub(x0,x1)", {x, m});
             const auto v = mean(s, s.elementwise("mul(x0,x0)", {e}), {2, 3});
             const auto r = s.elementwise("reciprocal(sqrt(add(x0,0.5)))", {v});
             return Ids{s.elementwise("mul(x0,x1)", {d, r})};
         },
         "%0 = elementwise add(x0,x1) shape=2x3x4x5 (x0, x1)\n%1 = mean_variance axes=2,3 epsilon=0.5 (%0)\n-> %1"},
        {"other axes are something else",
         [](Sketch &s) {
             const auto x = s.input({3, 4});
             const auto d = s.elementwise("sub(x0,x1)", {x, mean(s, x, {0})});
             const auto v = mean(s, s.elementwise("pow(x0,2)", {d}), {1});
             return Ids{s.elementwise("div(x0,sqrt(add(x1,1)))", {d, v})};
         },
         "%0 = mean axes=0 (x0)\n%1 = elementwise sub(x0,x1) shape=3x4 (x0, %0)\n"
         "%2 = elementwise pow(x0,2) shape=3x4 (%1)\n%3 = mean axes=1 (%2)\n"
         "%4 = elementwise div(x0,sqrt(add(x1,1))) shape=3x4 (%1, %3)\n-> %4"},
        {"softmax",
         [](Sketch &s) {
             const auto x = s.input({3, 4});
             const auto m = s.node(Reduce{Reduce::Kind::maximum, {1}}, {x});
             const auto e = s.elementwise("exp(x0)", {s.elementwise("sub(x0,x1)", {x, m})});
             return Ids{s.elementwise("div(x0,x1)", {e, s.node(Reduce{Reduce::Kind::sum, {1}}, {e})})};
         },
         "%0 = softmax axes=1 (x0)\n-> %0"},
        {"softmax without a maximum",
         [](Sketch &s) {
             const auto e = s.elementwise("exp(x0)", {s.input({3, 4})});
             return Ids{s.elementwise("div(x0,x1)", {e, s.node(Reduce{Reduce::Kind::sum, {0}}, {e})})};
         },
         "%0 = softmax axes=0 (x0)\n-> %0"},
        {"the logarithm of softmax, spelled in two ways",
         [](Sketch &s) {
             const auto x = s.input({3, 4});
             const auto m = s.node(Reduce{Reduce::Kind::maximum, {1}}, {x});
             const auto d = s.elementwise("sub(x0,x1)", {x, m});
             const auto sum = s.node(Reduce{Reduce::Kind::sum, {1}}, {s.elementwise("exp(x0)", {d})});
             const auto soft = s.node(Normalize{Normalize::Kind::softmax, {1}}, {x});
             return Ids{s.elementwise("sub(x0,log(x1))", {d, sum}), s.elementwise("log(x0)", {soft})};
         },
         "%0 = log_softmax axes=1 (x0)\n%1 = log_softmax axes=1 (x0)\n-> %0 %1"},
        {"a share of something else",
         [](Sketch &s) {
             const auto e = s.elementwise("exp(x0)", {s.input({3, 4})}),
                        f = s.elementwise("exp(x0)", {s.input({3, 4})});
             return Ids{s.elementwise("div(x0,x1)", {e, s.node(Reduce{Reduce::Kind::sum, {0}}, {f})})};
         },
         "%0 = elementwise exp(x0) shape=3x4 (x0)\n%1 = elementwise exp(x0) shape=3x4 (x1)\n%2 = sum axes=0 (%1)\n"
         "%3 = elementwise div(x0,x1) shape=3x4 (%0, %2)\n-> %3"},
    };
    expect_rows(rows, name_normalizations);
}

TEST(MergeEqual, table) {
    const std::vector<Row> rows{
        {"equal nodes of equal constants",
         [](Sketch &s) {
             const auto x = s.input({2});
             const auto a = s.elementwise("add(x0,x1)", {x, s.constant({2}, {1, 2})});
             const auto b = s.elementwise("add(x0,x1)", {x, s.constant({2}, {1, 2})});
             const auto c = s.elementwise("add(x0,x1)", {x, s.constant({2}, {1, 3})});
             return Ids{s.node(Concat{0}, {a, b, c, s.elementwise("exp(x0)", {a}), s.elementwise("exp(x0)", {b})})};
         },
         "%0 = elementwise add(x0,x1) shape=2 (x0, 2)\n%1 = elementwise add(x0,x1) shape=2 (x0, 2)\n"
         "%2 = elementwise exp(x0) shape=2 (%0)\n%3 = concat axis=0 (%0, %0, %1, %2, %2)\n-> %3"},
        {"not large constants that differ at their beginning, in the middle or at their end",
         [](Sketch &s) {
             const auto x = s.input({5000});
             Ids sums;
             for (const size_t place : {0, 0, 2500, 4999, 4999}) {
                 std::vector<double> numbers(5000, 1);
                 numbers[place] = 2;
                 sums.push_back(s.elementwise("add(x0,x1)", {x, s.constant({5000}, numbers)}));
             }
             return sums;
         },
         "%0 = elementwise add(x0,x1) shape=5000 (x0, 5000)\n%1 = elementwise add(x0,x1) shape=5000 (x0, 5000)\n"
         "%2 = elementwise add(x0,x1) shape=5000 (x0, 5000)\n-> %0 %0 %1 %2 %2"},
        {"not what differs in the sign of a zero",
         [](Sketch &s) {
             const auto x = s.input({2});
             return Ids{s.elementwise("div(x0,0)", {x}), s.elementwise("div(x0,-0)", {x}), s.pad(x, 0, 1, 0, 0),
                        s.pad(x, 0, 1, 0, -0.0)};
         },
         "%0 = elementwise div(x0,0) shape=2 (x0)\n%1 = elementwise div(x0,-0) shape=2 (x0)\n"
         "%2 = resample axis0=[- 0..1] (x0)\n%3 = resample axis0=[- 0..1] fill=-0 (x0)\n-> %0 %1 %2 %3"},
        {"what is not needed goes",
         [](Sketch &s) {
             const auto x = s.input({2});
             s.elementwise("exp(x0)", {x});
             return Ids{x, x};
         },
         "-> x0 x0"},
    };
    expect_rows(rows, merge_equal, {.tolerance = 0});
}

// Comparing each with all others would take minutes.
TEST(MergeEqual, ManyDifferentReadersOfOneValue) {
    constexpr int64_t count = 100000;
    Sketch sketch(1);
    const ValueId x = sketch.input({count});
    Ids outputs;
    for (int64_t i = 0; i < count; i++) outputs.push_back(sketch.node(Resample{{{0, 1, {i}, {}}}, 0}, {x}));
    outputs.push_back(sketch.node(Resample{{{0, 1, {7}, {}}}, 0}, {x}));
    const Graph merged = merge_equal(std::move(sketch).finish(outputs));
    EXPECT_EQ(merged.nodes.size(), static_cast<size_t>(count));
    EXPECT_EQ(merged.outputs.back().value, merged.outputs[7].value);
}

}  // namespace
}  // namespace kiln::graph
