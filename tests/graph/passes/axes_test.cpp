// Products that become convolutions, and transposes and reshapes that move.
#include "graph/passes/passes.h"
#include "tests/graph/passes/rows.h"

namespace kiln::graph {
namespace {

TEST(ConvolveProducts, table) {
    const std::vector<Row> rows{
        {"rows times a constant",
         [](Sketch &s) {
             return Ids{s.node(MatrixProduct{}, {s.input({5, 3}), s.random({3, 4})})};
         },
         "%0 = reshape shape=1x5x3 (x0)\n%1 = transpose permutation=0,2,1 (%0)\n%2 = convolution (%1, 4x3x1)\n"
         "%3 = transpose permutation=0,2,1 (%2)\n%4 = reshape shape=5x4 (%3)\n-> %4"},
        {"images times a constant with axes of its own",
         [](Sketch &s) {
             return Ids{s.node(MatrixProduct{}, {s.input({2, 5, 6, 3}), s.random({1, 3, 4})})};
         },
         "%0 = reshape shape=2x5x6x3 (x0)\n%1 = transpose permutation=0,3,1,2 (%0)\n%2 = convolution (%1, 4x3x1x1)\n"
         "%3 = transpose permutation=0,2,3,1 (%2)\n%4 = reshape shape=2x5x6x4 (%3)\n-> %4"},
        {"more axes than a convolution has",
         [](Sketch &s) {
             return Ids{s.node(MatrixProduct{}, {s.input({2, 1, 3, 2, 5, 3}), s.random({3, 4})})};
         },
         "%0 = reshape shape=12x5x3 (x0)\n%1 = transpose permutation=0,2,1 (%0)\n%2 = convolution (%1, 4x3x1)\n"
         "%3 = transpose permutation=0,2,1 (%2)\n%4 = reshape shape=2x1x3x2x5x4 (%3)\n-> %4"},
        {"a constant times columns",
         [](Sketch &s) {
             return Ids{s.node(MatrixProduct{}, {s.random({4, 3}), s.input({2, 3, 5})})};
         },
         "%0 = reshape shape=2x3x5 (x0)\n%1 = convolution (%0, 4x3x1)\n%2 = reshape shape=2x4x5 (%1)\n-> %2"},
        {"the constant has more axes",
         [](Sketch &s) {
             return Ids{s.node(MatrixProduct{}, {s.random({1, 1, 4, 3}), s.input({3, 5})})};
         },
         "%0 = reshape shape=1x3x5 (x0)\n%1 = convolution (%0, 4x3x1)\n%2 = reshape shape=1x1x4x5 (%1)\n-> %2"},
        {"a stack of constants stays",
         [](Sketch &s) {
             return Ids{s.node(MatrixProduct{}, {s.input({2, 5, 3}), s.random({2, 3, 4})})};
         },
         "%0 = matrix_product (x0, 2x3x4)\n-> %0"},
        {"two values stay",
         [](Sketch &s) {
             return Ids{s.node(MatrixProduct{}, {s.input({2, 3}), s.input({3, 2})})};
         },
         "%0 = matrix_product (x0, x1)\n-> %0"},
        {"nothing to sum",
         [](Sketch &s) {
             return Ids{s.node(MatrixProduct{}, {s.input({2, 0}), s.random({0, 2})})};
         },
         "%0 = matrix_product (x0, 0x2)\n-> %0"},
    };
    expect_rows(rows, convolve_products, {.tolerance = 1e-12});
}

Convolution none() { return {}; }

TEST(MoveAxes, table) {
    const std::vector<Row> rows{
        {"pairs vanish",
         [](Sketch &s) {
             return Ids{s.transpose(s.transpose(s.input({2, 3, 4}), {2, 0, 1}), {1, 2, 0})};
         },
         "-> x0"},
        {"neighbours become one",
         [](Sketch &s) {
             return Ids{s.transpose(s.transpose(s.input({2, 3, 4}), {2, 0, 1}), {0, 2, 1})};
         },
         "%0 = transpose permutation=2,1,0 (x0)\n-> %0"},
        {"what moves nothing is a reshape",
         [](Sketch &s) {
             return Ids{s.transpose(s.input({1, 3, 1, 4}), {1, 0, 3, 2})};
         },
         "%0 = reshape shape=3x1x4x1 (x0)\n-> %0"},
        {"reshapes become one, or none",
         [](Sketch &s) {
             const auto x = s.input({2, 6});
             return Ids{s.reshape(s.reshape(x, {3, 4}), {12}), s.reshape(s.reshape(x, {4, 3}), {2, 6})};
         },
         "%0 = reshape shape=12 (x0)\n-> %0 x0"},
        {"through element-wise nodes with constants and numbers",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4, 5})}, 3, {1, 1}, none());
             const auto t =
                 s.elementwise("max(mul(x0,x1),x2)", {s.transpose(c, {0, 2, 3, 1}), s.random({3}), s.input({})});
             return Ids{s.convolution({s.transpose(t, {0, 3, 1, 2})}, 2, {1, 1}, none())};
         },
         "%0 = convolution (x0, 3x2x1x1)\n%1 = reshape shape=1x1x1x1 (x1)\n"
         "%2 = elementwise max(mul(x0,x1),x2) shape=1x3x4x5 (%0, 1x3x1x1, %1)\n%3 = convolution (%2, 2x3x1x1)\n-> %3"},
        {"through a sum of two, with a vector for each channel",
         [](Sketch &s) {
             const auto a = s.transpose(s.input({1, 3, 4, 5}), {0, 2, 3, 1}),
                        b = s.transpose(s.input({1, 3, 4, 5}), {0, 2, 3, 1});
             return Ids{s.elementwise("add(mul(x0,x1),x2)", {a, s.input({1, 1, 1, 3}), b})};
         },
         "%0 = reshape shape=1x3x1x1 (x2)\n%1 = elementwise add(mul(x0,x1),x2) shape=1x3x4x5 (x0, %0, x1)\n"
         "%2 = transpose permutation=0,2,3,1 (%1)\n-> %2"},
        {"not where one of two is not transposed",
         [](Sketch &s) {
             return Ids{s.elementwise("add(x0,x1)", {s.transpose(s.input({3, 4}), {1, 0}), s.input({4, 3})})};
         },
         "%0 = transpose permutation=1,0 (x0)\n%1 = elementwise add(x0,x1) shape=4x3 (%0, x1)\n-> %1"},
        {"through reductions, normalizations, resamples and concatenations",
         [](Sketch &s) {
             const auto t = s.transpose(s.input({2, 3, 4}), {2, 0, 1});
             const auto n = s.node(Normalize{Normalize::Kind::softmax, {0, 2}}, {t});
             const auto c = s.node(Concat{2}, {s.pad(n, 2, 1, -1), s.random({4, 2, 2})});
             return Ids{s.transpose(s.node(Reduce{Reduce::Kind::sum, {0}}, {c}), {1, 2, 0})};
         },
         "%0 = softmax axes=1,2 (x0)\n%1 = resample axis1=[- 0..1] (%0)\n%2 = concat axis=1 (%1, 2x2x4)\n"
         "%3 = sum axes=2 (%2)\n-> %3"},
        {"a transposed value with other readers stays where that moves fewer elements",
         [](Sketch &s) {
             const auto t = s.transpose(s.input({3, 4}), {1, 0});
             return Ids{s.elementwise("exp(x0)", {t}), s.elementwise("neg(x0)", {t})};
         },
         "%0 = transpose permutation=1,0 (x0)\n%1 = elementwise exp(x0) shape=4x3 (%0)\n"
         "%2 = elementwise neg(x0) shape=4x3 (%0)\n-> %1 %2"},
        {"and goes behind all of them where pairs meet",
         [](Sketch &s) {
             const auto t = s.transpose(s.input({3, 4}), {1, 0});
             return Ids{s.transpose(s.elementwise("exp(x0)", {t}), {1, 0}),
                        s.transpose(s.elementwise("neg(x0)", {t}), {1, 0})};
         },
         "%0 = elementwise exp(x0) shape=3x4 (x0)\n%1 = elementwise neg(x0) shape=3x4 (x0)\n-> %0 %1"},
        {"a reshape goes behind what keeps its groups",
         [](Sketch &s) {
             const auto r = s.reshape(s.input({2, 3, 4, 5}), {2, 3, 20});
             const auto a = s.elementwise("add(x0,x1)", {r, s.random({3, 1})});
             const auto n = s.node(Normalize{Normalize::Kind::mean_variance, {2}, 1}, {a});
             return Ids{s.reshape(s.node(Reduce{Reduce::Kind::maximum, {1}}, {n}), {2, 1, 4, 5})};
         },
         "%0 = elementwise add(x0,x1) shape=2x3x4x5 (x0, 1x3x1x1)\n%1 = mean_variance axes=2,3 epsilon=1 (%0)\n"
         "%2 = maximum axes=1 (%1)\n-> %2"},
        {"but not behind what cuts through them",
         [](Sketch &s) {
             const auto r = s.reshape(s.input({2, 6}), {4, 3});
             return Ids{s.elementwise("add(x0,x1)", {r, s.random({3})})};
         },
         "%0 = reshape shape=4x3 (x0)\n%1 = elementwise add(x0,x1) shape=4x3 (%0, 3)\n-> %1"},
        {"a transpose goes behind a reshape of whole runs",
         [](Sketch &s) {
             const auto t = s.transpose(s.input({1, 3, 4, 5}), {0, 2, 3, 1});
             return Ids{s.transpose(s.reshape(t, {20, 3}), {1, 0})};
         },
         "%0 = reshape shape=3x20 (x0)\n-> %0"},
        {"a transpose stays in front of a reshape that mixes its axes",
         [](Sketch &s) {
             return Ids{s.reshape(s.transpose(s.input({3, 4}), {1, 0}), {12})};
         },
         "%0 = transpose permutation=1,0 (x0)\n%1 = reshape shape=12 (%0)\n-> %1"},
        {"parts and pads of each other are one resample",
         [](Sketch &s) {
             const auto slice = s.pad(s.pad(s.input({2, 9}), 1, -2, -1), 0, -1, 0);
             return Ids{s.pad(s.pad(slice, 1, 1, 2, 7), 1, -2, 1, 7)};
         },
         "%0 = resample axis0=[1] axis1=[3..7 -*3] fill=7 (x0)\n-> %0"},
        {"but not where they fill with different numbers",
         [](Sketch &s) {
             return Ids{s.pad(s.pad(s.input({9}), 0, 1, 0, 7), 0, 1, 0, 6),
                        s.pad(s.pad(s.input({9}), 0, 1, 0, 0), 0, 1, 0, -0.0)};
         },
         "%0 = resample axis0=[- 0..8] fill=7 (x0)\n%1 = resample axis0=[- 0..9] fill=6 (%0)\n"
         "%2 = resample axis0=[- 0..8] (x1)\n%3 = resample axis0=[- 0..9] fill=-0 (%2)\n-> %1 %3"},
        {"a part of what was made larger",
         [](Sketch &s) {
             const Resample larger{
                 {{.axis = 0, .taps = 2, .indices = {0, 0, 0, 1, 1, 1, 1, 2}, .weights = {1, 0, .5, .5, 1, 0, .5, .5}}},
                 0};
             return Ids{s.pad(s.node(larger, {s.input({3})}), 0, -1, 1, 7)};
         },
         "%0 = resample axis0=[4 of 2 taps] fill=7 (x0)\n-> %0"},
        {"what keeps all elements as they are goes",
         [](Sketch &s) {
             const auto x = s.node(Concat{1}, {s.input({2, 3, 1})});
             return Ids{s.node(Reduce{Reduce::Kind::mean, {2}}, {s.pad(x, 1, 0, 0)})};
         },
         "-> x0"},
    };
    expect_rows(rows, move_axes, {.tolerance = 0});
}

}  // namespace
}  // namespace kiln::graph
