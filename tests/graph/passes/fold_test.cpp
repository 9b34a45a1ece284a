// What becomes part of a convolution or a pool.
#include "graph/passes/passes.h"
#include "tests/graph/passes/rows.h"

namespace kiln::graph {
namespace {

using enum EpilogueStep::Kind;

TEST(FoldAffine, table) {
    const std::vector<Row> rows{
        {"a batch normalization behind",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 3, 5, 5})}, 4, {3, 3});
             return Ids{s.elementwise("add(mul(x0,x1),x2)", {c, s.random({4, 1, 1}), s.random({1, 4, 1, 1})})};
         },
         "%0 = convolution epilogue=bias (x0, 4x3x3x3, 4)\n-> %0"},
        {"one node after the other, with a bias that is there already",
         [](Sketch &s) {
             const auto x = s.input({2, 4, 5});
             const auto c = s.convolution({x, s.random({6})}, 6, {2}, {.groups = 2, .epilogue = {{bias}}});
             const auto d = s.elementwise("sub(x0,x1)", {c, s.random({6, 1})});
             return Ids{s.elementwise("div(x0,x1)", {s.elementwise("neg(x0)", {d}), s.random({6, 1}, 1, 2)})};
         },
         "%0 = convolution groups=2 epilogue=bias (x0, 6x2x2, 6)\n-> %0"},
        {"two in a row, where no convolution takes them",
         [](Sketch &s) {
             const auto x = s.input({2, 4, 5}),
                        y = s.elementwise("add(mul(x0,x1),x2)", {x, s.random({4, 1}), s.random({4, 1})});
             const auto z = s.elementwise("sub(mul(x0,2),x1)", {y, s.random({1, 4, 1})});
             return Ids{s.elementwise("add(x0,x1)", {s.elementwise("max(x0,0)", {z}), s.random({5})})};
         },
         "%0 = elementwise add(mul(x0,x1),x2) shape=2x4x5 (x0, 4x1, 4x1)\n%1 = elementwise max(x0,0) shape=2x4x5 (%0)\n"
         "%2 = elementwise add(x0,x1) shape=2x4x5 (%1, 5)\n-> %2"},
        {"not a quotient, which a product with the reciprocal is not always",
         [](Sketch &s) {
             const auto y = s.elementwise("div(x0,41)", {s.elementwise("add(x0,41)", {s.input({2, 4, 5})})});
             return Ids{s.elementwise("mul(x0,3)", {y})};
         },
         "%0 = elementwise add(x0,41) shape=2x4x5 (x0)\n%1 = elementwise div(x0,41) shape=2x4x5 (%0)\n"
         "%2 = elementwise mul(x0,3) shape=2x4x5 (%1)\n-> %2"},
        {"two in a row that somebody reads between, or whose numbers are not those of channels",
         [](Sketch &s) {
             const auto x = s.input({2, 4, 5}), y = s.elementwise("mul(x0,x1)", {x, s.random({4, 1})});
             const auto z =
                 s.elementwise("mul(x0,x1)", {s.elementwise("add(x0,x1)", {y, s.random({4, 1})}), s.random({5})});
             return Ids{y, z};
         },
         "%0 = elementwise mul(x0,x1) shape=2x4x5 (x0, 4x1)\n%1 = elementwise add(x0,x1) shape=2x4x5 (%0, 4x1)\n"
         "%2 = elementwise mul(x0,x1) shape=2x4x5 (%1, 5)\n-> %0 %2"},
        {"not factors and summands that overflow together, or lose digits",
         [](Sketch &s) {
             const auto x = s.input({2, 4, 5});
             const auto large = s.elementwise("mul(x0,1e30)", {s.elementwise("mul(x0,1e30)", {x})});
             const auto small = s.elementwise("mul(x0,1e-30)", {s.elementwise("mul(x0,1e-30)", {x})});
             const auto shifted = s.elementwise("mul(x0,4)", {s.elementwise("add(x0,2e38)", {x})});
             return Ids{large, small, shifted};
         },
         "%0 = elementwise mul(x0,1e+30) shape=2x4x5 (x0)\n%1 = elementwise mul(x0,1e+30) shape=2x4x5 (%0)\n"
         "%2 = elementwise mul(x0,1e-30) shape=2x4x5 (x0)\n%3 = elementwise mul(x0,1e-30) shape=2x4x5 (%2)\n"
         "%4 = elementwise add(x0,2e+38) shape=2x4x5 (x0)\n%5 = elementwise mul(x0,4) shape=2x4x5 (%4)\n-> %1 %3 %5"},
        {"not where a bias overflows",
         [](Sketch &s) {
             const auto c =
                 s.convolution({s.input({1, 2, 4}), s.constant({2}, {2e38, 2e38})}, 2, {1}, {.epilogue = {{bias}}});
             return Ids{s.elementwise("mul(x0,4)", {c})};
         },
         "%0 = convolution epilogue=bias (x0, 2x2x1, 2)\n%1 = elementwise mul(x0,4) shape=1x2x4 (%0)\n-> %1"},
        {"no integers, which wrap around",
         [](Sketch &s) {
             const auto x = s.input({2, 4, 5}, Element::i32), b = s.input({2, 4, 5}, Element::u8);
             const auto y = s.elementwise("mul(x0,i32:100000)", {s.elementwise("mul(x0,i32:100000)", {x})});
             const auto z = s.elementwise("mul(x0,i32:4)", {s.elementwise("add(x0,i32:1073741824)", {x})});
             return Ids{y, z, s.elementwise("mul(x0,u8:20)", {s.elementwise("mul(x0,u8:20)", {b})})};
         },
         "%0 = elementwise mul(x0,i32:1e+05) shape=2x4x5 (x0)\n%1 = elementwise mul(x0,i32:1e+05) shape=2x4x5 (%0)\n"
         "%2 = elementwise add(x0,i32:1073741824) shape=2x4x5 (x0)\n%3 = elementwise mul(x0,i32:4) shape=2x4x5 (%2)\n"
         "%4 = elementwise mul(x0,u8:20) shape=2x4x5 (x1)\n%5 = elementwise mul(x0,u8:20) shape=2x4x5 (%4)\n"
         "-> %1 %3 %5"},
        {"not behind a relu",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1}, {.epilogue = {{relu}}});
             return Ids{s.elementwise("mul(x0,x1)", {c, s.random({2, 1})})};
         },
         "%0 = convolution epilogue=relu (x0, 2x2x1)\n%1 = elementwise mul(x0,x1) shape=1x2x4 (%0, 2x1)\n-> %1"},
        {"a shift behind an addition, but no factor",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4});
             const auto c = s.convolution({x, x}, 2, {1}, {.epilogue = {{add}}});
             const auto d = s.elementwise("add(x0,x1)", {c, s.random({2, 1})});
             return Ids{s.elementwise("mul(x0,x1)", {d, s.random({2, 1})})};
         },
         "%0 = convolution epilogue=bias,add (x0, 2x2x1, 2, x0)\n"
         "%1 = elementwise mul(x0,x1) shape=1x2x4 (%0, 2x1)\n-> %1"},
        {"not where another node reads the sums",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1});
             return Ids{c, s.elementwise("mul(x0,x1)", {c, s.random({2, 1})})};
         },
         "%0 = convolution (x0, 2x2x1)\n%1 = elementwise mul(x0,x1) shape=1x2x4 (%0, 2x1)\n-> %0 %1"},
        {"not what differs along other axes",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1});
             return Ids{s.elementwise("mul(x0,x1)", {c, s.random({1, 4})})};
         },
         "%0 = convolution (x0, 2x2x1)\n%1 = elementwise mul(x0,x1) shape=1x2x4 (%0, 1x4)\n-> %1"},
        {"not where weights overflow",
         [](Sketch &s) {
             const auto c =
                 s.convolution({s.input({1, 2, 4}), s.constant({2}, {1e30, 1e30})}, 2, {1}, {.epilogue = {{bias}}});
             return Ids{s.elementwise("mul(mul(x0,x1),x2)", {c, s.constant({1}, {1e38}), s.constant({1}, {1e30})})};
         },
         "%0 = convolution epilogue=bias (x0, 2x2x1, 2)\n"
         "%1 = elementwise mul(mul(x0,x1),x2) shape=1x2x4 (%0, 1, 1)\n-> %1"},
        {"not where weights lose digits",
         [](Sketch &s) {
             const auto c = s.convolution({s.input({1, 2, 4})}, 2, {1});
             return Ids{s.elementwise("mul(x0,x1)", {c, s.constant({1}, {1e-38})})};
         },
         "%0 = convolution (x0, 2x2x1)\n%1 = elementwise mul(x0,x1) shape=1x2x4 (%0, 1)\n-> %1"},
        {"in front of a convolution without padding",
         [](Sketch &s) {
             const auto x = s.elementwise("div(sub(x0,x1),x2)",
                                          {s.input({1, 4, 6, 6}), s.random({4, 1, 1}), s.random({4, 1, 1}, 1, 2)});
             return Ids{s.convolution({x}, 6, {3, 2}, {.groups = 2})};
         },
         "%0 = convolution groups=2 epilogue=bias (x0, 6x2x3x2, 6)\n-> %0"},
        {"a factor in front of one with padding",
         [](Sketch &s) {
             const auto x = s.elementwise("mul(x0,x1)", {s.input({1, 2, 6}), s.random({2, 1})});
             return Ids{s.convolution({x}, 2, {3}, {.padding = {{1, 1}}})};
         },
         "%0 = convolution padding=1,1 (x0, 2x2x3)\n-> %0"},
        {"no shift in front of one with padding",
         [](Sketch &s) {
             const auto x = s.elementwise("add(x0,x1)", {s.input({1, 2, 6}), s.random({2, 1})});
             return Ids{s.convolution({x}, 2, {3}, {.padding = {{1, 0}}})};
         },
         "%0 = elementwise add(x0,x1) shape=1x2x6 (x0, 2x1)\n%1 = convolution padding=1,0 (%0, 2x2x3)\n-> %1"},
        {"no shift in front of one with holes",
         [](Sketch &s) {
             const auto x = s.elementwise("add(x0,x1)", {s.input({1, 2, 6}), s.random({2, 1})});
             return Ids{s.convolution({x}, 2, {3}, {.input_dilation = {2}})};
         },
         "%0 = elementwise add(x0,x1) shape=1x2x6 (x0, 2x1)\n%1 = convolution input_dilation=2 (%0, 2x2x3)\n-> %1"},
        {"a shift in front of one that crops",
         [](Sketch &s) {
             const auto x = s.elementwise("add(x0,x1)", {s.input({1, 2, 6}), s.random({2, 1})});
             return Ids{s.convolution({x}, 2, {3}, {.padding = {{-1, 0}}})};
         },
         "%0 = convolution padding=-1,0 epilogue=bias (x0, 2x2x3, 2)\n-> %0"},
        {"in front, through a transpose",
         [](Sketch &s) {
             const auto x = s.elementwise("add(mul(x0,x1),x2)", {s.input({1, 5, 6, 3}), s.random({3}), s.random({3})});
             return Ids{s.convolution({s.transpose(x, {0, 3, 1, 2})}, 2, {3, 3})};
         },
         "%0 = transpose permutation=0,3,1,2 (x0)\n%1 = convolution epilogue=bias (%0, 2x3x3x3, 2)\n-> %1"},
        {"no shift in front of one with a bias behind its relu",
         [](Sketch &s) {
             const auto x = s.elementwise("add(x0,x1)", {s.input({1, 2, 6}), s.random({2, 1})});
             return Ids{s.convolution({x, s.random({2})}, 2, {3}, {.epilogue = {{relu}, {bias}}})};
         },
         "%0 = elementwise add(x0,x1) shape=1x2x6 (x0, 2x1)\n%1 = convolution epilogue=relu,bias (%0, 2x2x3, 2)\n"
         "-> %1"},
    };
    expect_rows(rows, fold_affine);
}

TEST(FoldAffine, lists_no_numbers_of_endless_channels) {
    Sketch s;
    const auto x = s.input({1, int64_t{1} << 34, 1});
    const auto y = s.elementwise("add(x0,1)", {s.elementwise("mul(x0,2)", {x})});
    const Graph graph = std::move(s).finish({y});
    EXPECT_EQ(told(fold_affine(graph)), told(graph));
}

TEST(FoldPads, table) {
    const std::vector<Row> rows{
        {"a pad of both axes",
         [](Sketch &s) {
             const auto x = s.pad(s.pad(s.input({1, 2, 5, 5}), 2, 1, 2), 3, 0, 1);
             return Ids{s.convolution({x}, 3, {3, 3}, {.padding = {{1, 0}, {0, 0}}})};
         },
         "%0 = convolution padding=2,2x0,1 (x0, 3x2x3x3)\n-> %0"},
        {"a crop",
         [](Sketch &s) {
             return Ids{s.convolution({s.pad(s.input({1, 2, 9}), 2, -2, -1, 7)}, 3, {3}, {.padding = {{-1, 0}}})};
         },
         "%0 = convolution padding=-3,-1 (x0, 3x2x3)\n-> %0"},
        {"zeros cannot bring back what was cut off",
         [](Sketch &s) {
             return Ids{s.convolution({s.pad(s.input({1, 2, 9}), 2, -2, 0)}, 3, {3}, {.padding = {{1, 0}}})};
         },
         "%0 = resample axis2=[2..8] (x0)\n%1 = convolution padding=1,0 (%0, 3x2x3)\n-> %1"},
        {"holes are between the zeros of the pad, too",
         [](Sketch &s) {
             return Ids{s.convolution({s.pad(s.input({1, 2, 5}), 2, 1, -1)}, 3, {3},
                                      {.input_dilation = {3}, .padding = {{1, 0}}})};
         },
         "%0 = convolution input_dilation=3 padding=4,-3 (x0, 3x2x3)\n-> %0"},
        {"other numbers than zero stay",
         [](Sketch &s) {
             return Ids{s.convolution({s.pad(s.input({1, 2, 5}), 2, 1, 0, 3)}, 3, {3})};
         },
         "%0 = resample axis2=[- 0..4] fill=3 (x0)\n%1 = convolution (%0, 3x2x3)\n-> %1"},
        {"channels stay",
         [](Sketch &s) {
             return Ids{s.convolution({s.pad(s.input({1, 2, 5}), 1, 1, 0)}, 3, {3})};
         },
         "%0 = resample axis1=[- 0..1] (x0)\n%1 = convolution (%0, 3x3x3)\n-> %1"},
        {"an average counts what was padded",
         [](Sketch &s) {
             const Pool pool{.kind = Pool::Kind::average,
                             .window = {3},
                             .strides = {2},
                             .dilations = {1},
                             .padding = {{0, 0}},
                             .beyond = {1}};
             return Ids{s.node(pool, {s.pad(s.input({1, 2, 6}), 2, 1, 1)})};
         },
         "%0 = average_pool window=3 strides=2 padding=1,1 beyond=1 counts_padding (x0)\n-> %0"},
        {"but not where the pool has padding of its own that does not count",
         [](Sketch &s) {
             const Pool pool{.kind = Pool::Kind::average,
                             .window = {3},
                             .strides = {1},
                             .dilations = {1},
                             .padding = {{1, 0}},
                             .beyond = {0}};
             return Ids{s.node(pool, {s.pad(s.input({1, 2, 6}), 2, 1, 1)})};
         },
         "%0 = resample axis2=[- 0..5 -] (x0)\n%1 = average_pool window=3 padding=1,0 (%0)\n-> %1"},
        {"a maximum would never be the padding",
         [](Sketch &s) {
             const Pool pool{.kind = Pool::Kind::maximum,
                             .window = {3},
                             .strides = {1},
                             .dilations = {1},
                             .padding = {{0, 0}},
                             .beyond = {0}};
             return Ids{s.node(pool, {s.pad(s.input({1, 2, 6}), 2, 1, 1)})};
         },
         "%0 = resample axis2=[- 0..5 -] (x0)\n%1 = maximum_pool window=3 (%0)\n-> %1"},
    };
    expect_rows(rows, fold_pads, {.tolerance = 1e-12});
}

}  // namespace
}  // namespace kiln::graph
