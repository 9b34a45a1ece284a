// Epilogues and groups of element-wise nodes.
#include "graph/passes/passes.h"
#include "runtime/kiln.h"
#include "tests/graph/passes/rows.h"

namespace kiln::graph {
namespace {

using enum EpilogueStep::Kind;

TEST(FuseEpilogues, table) {
    const std::vector<Row> rows{
        {"an addition, then relu",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4}), c = s.convolution({x}, 2, {1});
             return Ids{s.elementwise("max(x0,0)", {s.elementwise("add(x0,x1)", {x, c})})};
         },
         "%0 = convolution epilogue=add,relu (x0, 2x2x1, x0)\n-> %0"},
        {"all in one node, in the order of the node",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1});
             return Ids{
                 s.elementwise("min(max(add(max(add(x0,x1),0),x2),-1),6)", {c, s.input({1, 2, 4}), s.random({2, 1})})};
         },
         "%0 = convolution epilogue=add,relu,bias,clamp:-1:6 (x0, 2x2x1, x1, 2)\n-> %0"},
        {"a value for each channel is a bias",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({2, 2, 4})}, 3, {1});
             return Ids{s.elementwise("add(x0,x1)", {c, s.input({1, 3, 1})})};
         },
         "%0 = reshape shape=3 (x1)\n%1 = convolution epilogue=bias (x0, 3x2x1, %0)\n-> %1"},
        {"bounds on one side",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1}, {.epilogue = {{relu}}});
             return Ids{s.elementwise("max(min(x0,2),3)", {c})};
         },
         "%0 = convolution epilogue=relu,clamp:-inf:2,clamp:3:inf (x0, 2x2x1)\n-> %0"},
        {"no bounds at the largest finite number, on either side or on both",
         [](Sketch &s) {
             constexpr auto below = "max(x0,-3.4028234663852886e38)", above = "min(max(x0,0),3.4028234663852886e38)";
             const auto x = s.input({1, 2, 4}), c = s.convolution({x}, 2, {1}), d = s.convolution({x}, 2, {1});
             const auto e = s.elementwise("add(x0,x1)", {s.convolution({x}, 2, {1}), x});
             return Ids{s.elementwise(above, {c}), s.elementwise("min(x0,6)", {s.elementwise(below, {d})}),
                        s.elementwise("min(max(x0,-3.4028234663852886e38),3.4028234663852886e38)", {e})};
         },
         "%0 = convolution epilogue=relu (x0, 2x2x1)\n%1 = convolution epilogue=clamp:-inf:6 (x0, 2x2x1)\n"
         "%2 = convolution epilogue=add (x0, 2x2x1, x0)\n-> %0 %1 %2"},
        {"but those of what is added",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4}), c = s.convolution({x}, 2, {1});
             return Ids{s.elementwise("add(x0,max(x1,-3.4028234663852886e38))", {c, x})};
         },
         "%0 = convolution (x0, 2x2x1)\n"
         "%1 = elementwise add(x0,max(x1,-3.4028234663852886e+38)) shape=1x2x4 (%0, x0)\n-> %1"},
        {"the later of two convolutions",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4});
             const auto a = s.convolution({x}, 2, {1}), b = s.convolution({s.elementwise("exp(x0)", {x})}, 2, {1});
             return Ids{s.elementwise("add(x0,x1)", {a, b})};
         },
         "%0 = convolution (x0, 2x2x1)\n%1 = elementwise exp(x0) shape=1x2x4 (x0)\n"
         "%2 = convolution epilogue=add (%1, 2x2x1, %0)\n-> %2"},
        {"one addition only",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4}), c = s.convolution({x, x}, 2, {1}, {.epilogue = {{add}}});
             return Ids{s.elementwise("add(x0,x1)", {c, s.input({1, 2, 4})})};
         },
         "%0 = convolution epilogue=add (x0, 2x2x1, x0)\n%1 = elementwise add(x0,x1) shape=1x2x4 (%0, x1)\n-> %1"},
        {"not what another node reads, too",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1});
             return Ids{c, s.elementwise("max(x0,0)", {c})};
         },
         "%0 = convolution (x0, 2x2x1)\n%1 = elementwise max(x0,0) shape=1x2x4 (%0)\n-> %0 %1"},
        {"not an addition that repeats the result",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1});
             return Ids{s.elementwise("add(x0,x1)", {c, s.input({3, 2, 4})})};
         },
         "%0 = convolution (x0, 2x2x1)\n%1 = elementwise add(x0,x1) shape=3x2x4 (%0, x1)\n-> %1"},
        {"activations behind a bias and an addition",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4}), c = s.convolution({x, s.random({2})}, 2, {1}, {.epilogue = {{bias}}});
             const auto y = s.elementwise("add(x0,x1)", {s.elementwise("mul(x0,sigmoid(x0))", {c}), x});
             return Ids{s.elementwise("max(x0,0)", {y})};
         },
         "%0 = convolution epilogue=bias,silu,add,relu (x0, 2x2x1, 2, x0)\n-> %0"},
        {"numbers of an activation",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1});
             const auto y = s.elementwise("select(less(x0,0),mul(x0,0.0625),x0)", {c});
             return Ids{s.elementwise("min(max(add(mul(x0,0.25),0.5),0),1)", {y})};
         },
         "%0 = convolution epilogue=leaky_relu:0.0625,hard_sigmoid:0.25:0.5 (x0, 2x2x1)\n-> %0"},
        {"a number times an activation, and another one added",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4}), c = s.convolution({x}, 2, {1}, {.epilogue = {{hard_swish}}});
             const auto d = s.elementwise("add(0.5,mul(x0,-1.5))", {c});
             const auto e = s.convolution({x}, 2, {1}, {.epilogue = {{relu}}});
             return Ids{d, s.elementwise("max(add(mul(0.75,x0),0.25),0)", {e})};
         },
         "%0 = convolution epilogue=hard_swish,affine:-1.5:0.5 (x0, 2x2x1)\n"
         "%1 = convolution epilogue=relu,affine:0.75:0.25,relu (x0, 2x2x1)\n-> %0 %1"},
        {"the same by nodes of their own",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4}), c = s.convolution({x}, 2, {1}, {.epilogue = {{relu}}});
             const auto product = s.elementwise("mul(x0,-1.5)", {c}), sum = s.elementwise("add(x0,0.5)", {product});
             const auto again = s.elementwise("mul(x0,0.25)", {s.elementwise("add(x0,2)", {sum})});
             return Ids{s.elementwise("add(x0,x1)", {again, s.input({1, 2, 4})})};
         },
         "%0 = convolution epilogue=relu,affine:-1.5:0.5,affine:1:2,affine:0.25:-0,add (x0, 2x2x1, x1)\n-> %0"},
        {"a quotient is a product",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1}, {.epilogue = {{relu}}});
             return Ids{s.elementwise("add(div(x0,-16),0.5)", {c}),
                        s.elementwise("div(x0,0)", {s.convolution({s.input({1, 2, 4})}, 2, {1})})};
         },
         "%0 = convolution epilogue=relu,affine:-0.0625:0.5 (x0, 2x2x1)\n%1 = convolution (x1, 2x2x1)\n"
         "%2 = elementwise div(x0,0) shape=1x2x4 (%1)\n-> %0 %2"},
        {"a slope for each channel, with and without a batch, in any order",
         [](Sketch &s) {
             constexpr auto prelu_of = "select(less(x0,0),mul(x0,x1),x0)";
             const auto x = s.input({2, 2, 4});
             const auto c = s.convolution({x, s.random({2})}, 2, {1}, {.epilogue = {{bias}}});
             const auto d = s.elementwise("add(x1,x0)", {s.elementwise(prelu_of, {c, s.random({2, 1})}), x});
             const auto e = s.convolution({d}, 3, {1});
             return Ids{
                 s.elementwise(prelu_of, {s.elementwise("add(x0,x1)", {e, s.input({2, 3, 4})}), s.input({1, 3, 1})})};
         },
         "%0 = convolution epilogue=bias,prelu,add (x0, 2x2x1, 2, 2, x0)\n%1 = reshape shape=3 (x2)\n"
         "%2 = convolution epilogue=add,prelu (%0, 3x2x1, x1, %1)\n-> %2"},
        {"a slope for each pixel, or for each image, and a second one, are no steps",
         [](Sketch &s) {
             constexpr auto prelu_of = "select(less(x0,0),mul(x0,x1),x0)";
             const auto c = s.convolution({s.input({2, 2, 4})}, 2, {1}), d = s.convolution({c}, 2, {1});
             const auto e = s.convolution({d, s.random({2})}, 2, {1}, {.epilogue = {{prelu}}});
             return Ids{s.elementwise(prelu_of, {s.convolution({c}, 2, {1}), s.input({2, 4})}),
                        s.elementwise(prelu_of, {s.convolution({d}, 2, {1}), s.input({2, 1, 1})}),
                        s.elementwise(prelu_of, {e, s.input({2, 1})})};
         },
         "%0 = convolution (x0, 2x2x1)\n%1 = convolution (%0, 2x2x1)\n%2 = convolution epilogue=prelu (%1, 2x2x1, 2)\n"
         "%3 = convolution (%0, 2x2x1)\n%4 = elementwise select(less(x0,0),mul(x0,x1),x0) shape=2x2x4 (%3, x1)\n"
         "%5 = convolution (%1, 2x2x1)\n%6 = elementwise select(less(x0,0),mul(x0,x1),x0) shape=2x2x4 (%5, x2)\n"
         "%7 = elementwise select(less(x0,0),mul(x0,x1),x0) shape=2x2x4 (%2, x3)\n-> %4 %6 %7"},
        {"a factor for each channel, of constants and of a gate",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4}), c = s.convolution({x}, 2, {1}, {.epilogue = {{relu}}});
             const auto d = s.elementwise("add(x2,mul(x1,x0))", {c, s.random({2, 1}), s.random({2, 1})});
             const auto e = s.elementwise("mul(x0,x1)", {s.convolution({d}, 3, {1}), s.input({1, 3, 1})});
             return Ids{e, s.elementwise("mul(x0,x0)", {s.convolution({x}, 2, {1})})};
         },
         "%0 = convolution epilogue=relu,scale,bias (x0, 2x2x1, 2, 2)\n%1 = reshape shape=3 (x1)\n"
         "%2 = convolution epilogue=scale (%0, 3x2x1, %1)\n%3 = convolution (x0, 2x2x1)\n"
         "%4 = elementwise mul(x0,x0) shape=1x2x4 (%3)\n-> %2 %4"},
        {"not the sum as a slope, nor a slope of another function",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 1, 1})}, 1, {1}),
                        d = s.convolution({s.input({1, 2, 4})}, 2, {1});
             return Ids{s.elementwise("select(less(x0,0),mul(x0,x0),x0)", {c}),
                        s.elementwise("select(less(0,x0),mul(x0,x1),x0)", {d, s.input({2, 1})})};
         },
         "%0 = convolution (x0, 1x1x1)\n%1 = convolution (x1, 2x2x1)\n"
         "%2 = elementwise select(less(x0,0),mul(x0,x0),x0) shape=1x1x1 (%0)\n"
         "%3 = elementwise select(less(0,x0),mul(x0,x1),x0) shape=1x2x4 (%1, x2)\n-> %2 %3"},
        {"named functions, of numbers that are floats",
         [](Sketch &s) {
             const auto with = [&](const char *function) {
                 return s.elementwise(function, {s.convolution({s.input({1, 2, 4})}, 2, {1})});
             };
             return Ids{with("mul(x0,min(max(add(mul(x0,0.1666666716337204),0.5),0),1))"), with("tanh(x0)"),
                        with("sigmoid(x0)"), with("mul(x0,add(mul(erf(mul(x0,0.7071067690849304)),0.5),0.5))"),
                        with("mul(x0,add(mul(tanh(mul(add(x0,mul(pow(x0,3),0.044714998453855515)),0.7978845834732056)),"
                             "0.5),0.5))")};
         },
         "%0 = convolution epilogue=hard_swish (x0, 2x2x1)\n%1 = convolution epilogue=tanh (x1, 2x2x1)\n"
         "%2 = convolution epilogue=sigmoid (x2, 2x2x1)\n%3 = convolution epilogue=gelu (x3, 2x2x1)\n"
         "%4 = convolution epilogue=gelu_tanh (x4, 2x2x1)\n-> %0 %1 %2 %3 %4"},
        {"not more steps than a package's descriptor holds",
         [](Sketch &s) {
             const std::vector<EpilogueStep> all(KILN_MAX_EPILOGUE - 1, {relu});
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1}, {.epilogue = all});
             return Ids{s.elementwise("sigmoid(x0)", {s.elementwise("tanh(x0)", {c})})};
         },
         "%0 = convolution epilogue=relu,relu,relu,relu,relu,relu,relu,tanh (x0, 2x2x1)\n"
         "%1 = elementwise sigmoid(x0) shape=1x2x4 (%0)\n-> %1"},
        {"not an activation with the sum outside of it",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4}), c = s.convolution({x}, 2, {1});
             return Ids{s.elementwise("mul(x0,sigmoid(x1))", {c, x})};
         },
         "%0 = convolution (x0, 2x2x1)\n%1 = elementwise mul(x0,sigmoid(x1)) shape=1x2x4 (%0, x0)\n-> %1"},
        {"a line with one bound is two steps; not with infinite numbers",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1}),
                        d = s.convolution({s.input({1, 2, 4})}, 2, {1});
             return Ids{s.elementwise("max(add(mul(x0,0.25),0.5),0)", {c}),
                        s.elementwise("select(less(x0,0),mul(x0,-inf),x0)", {d})};
         },
         "%0 = convolution (x1, 2x2x1)\n%1 = convolution epilogue=affine:0.25:0.5,relu (x0, 2x2x1)\n"
         "%2 = elementwise select(less(x0,0),mul(x0,-inf),x0) shape=1x2x4 (%0)\n-> %1 %2"},
        {"not the sum with itself, and no other function",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1});
             return Ids{s.elementwise("add(x0,tanh(x0))", {c})};
         },
         "%0 = convolution (x0, 2x2x1)\n%1 = elementwise add(x0,tanh(x0)) shape=1x2x4 (%0)\n-> %1"},
    };
    expect_rows(rows, fuse_epilogues, {.tolerance = 1e-12});
}

TEST(FuseElementwise, table) {
    const std::vector<Row> rows{
        {"a chain with operands of several shapes",
         [](Sketch &s) {
             const auto a = s.elementwise("mul(x0,x1)", {s.input({2, 3}), s.input({3})});
             return Ids{s.elementwise("tanh(x0)", {s.elementwise("sub(x0,x1)", {s.input({2, 3}), a})})};
         },
         "%0 = elementwise tanh(sub(x2,mul(x0,x1))) shape=2x3 (x0, x1, x2)\n-> %0"},
        {"what is broadcast is computed once",
         [](Sketch &s) {
             const auto a = s.elementwise("exp(x0)", {s.input({3})});
             return Ids{s.elementwise("add(x0,x1)", {s.input({2, 3}), a})};
         },
         "%0 = elementwise exp(x0) shape=3 (x0)\n%1 = elementwise add(x0,x1) shape=2x3 (x1, %0)\n-> %1"},
        {"a cheap value is computed by each of its readers",
         [](Sketch &s) {
             const auto a = s.elementwise("max(x0,0)", {s.input({2})});
             return Ids{s.elementwise("exp(x0)", {a}), s.elementwise("add(x0,x1)", {a, s.input({2})})};
         },
         "%0 = elementwise exp(max(x0,0)) shape=2 (x0)\n%1 = elementwise add(x1,max(x0,0)) shape=2 (x0, x1)\n-> %0 %1"},
        {"so is a quotient by a number",
         [](Sketch &s) {
             const auto a = s.elementwise("div(x0,3)", {s.input({2})});
             return Ids{s.elementwise("exp(x0)", {a}), s.elementwise("add(x0,x1)", {a, s.input({2})})};
         },
         "%0 = elementwise exp(div(x0,3)) shape=2 (x0)\n%1 = elementwise add(x1,div(x0,3)) shape=2 (x0, x1)\n-> %0 %1"},
        {"a dear one is not",
         [](Sketch &s) {
             const auto a = s.elementwise("tanh(x0)", {s.input({2})});
             return Ids{s.elementwise("exp(x0)", {a}), s.elementwise("neg(x0)", {a})};
         },
         "%0 = elementwise tanh(x0) shape=2 (x0)\n%1 = elementwise exp(x0) shape=2 (%0)\n"
         "%2 = elementwise neg(x0) shape=2 (%0)\n-> %1 %2"},
        {"nor one that another node reads",
         [](Sketch &s) {
             const auto a = s.elementwise("max(x0,0)", {s.input({2})});
             return Ids{s.elementwise("exp(x0)", {a}), s.node(Reduce{Reduce::Kind::sum, {0}}, {a})};
         },
         "%0 = elementwise max(x0,0) shape=2 (x0)\n%1 = elementwise exp(x0) shape=2 (%0)\n%2 = sum axes=0 (%0)\n"
         "-> %1 %2"},
    };
    expect_rows(rows, fuse_elementwise, {.tolerance = 1e-12});
}

TEST(Passes, until_names_one_of_them) {
    Sketch s;
    const auto x = s.input({2});
    const Graph graph = std::move(s).finish({x});
    for (const Pass &pass : passes()) EXPECT_TRUE(run_passes(graph, pass.name)) << pass.name;
    const auto unknown = run_passes(graph, "fold");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, ErrorCode::usage);
    EXPECT_NE(unknown.error().message.find("fold_pads"), std::string::npos) << unknown.error().message;
}

}  // namespace
}  // namespace kiln::graph
