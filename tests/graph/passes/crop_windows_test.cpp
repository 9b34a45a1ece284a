// Windows of convolutions of which some taps meet nothing but padding.
#include <gtest/gtest.h>

#include "graph/passes/passes.h"
#include "tests/graph/passes/rows.h"

namespace kiln::graph {
namespace {

TEST(CropWindows, table) {
    const std::vector<Row> rows{
        {"a dilation as large as the image",
         [](Sketch &s) {
             return Ids{
                 s.convolution({s.input({1, 2, 4, 5})}, 3, {3, 3}, {.dilations = {6, 5}, .padding = {{6, 6}, {5, 5}}})};
         },
         "%0 = convolution (x0, 3x2x1x1)\n-> %0"},
        {"one that reaches it",
         [](Sketch &s) {
             return Ids{
                 s.convolution({s.input({1, 2, 4, 5})}, 3, {3, 3}, {.dilations = {3, 4}, .padding = {{3, 3}, {4, 4}}})};
         },
         "%0 = convolution dilations=3x4 padding=3,3x4,4 (x0, 3x2x3x3)\n-> %0"},
        {"padding at one end",
         [](Sketch &s) {
             return Ids{s.convolution({s.input({1, 2, 4})}, 3, {3}, {.dilations = {2}, .padding = {{4, 0}}})};
         },
         "%0 = convolution dilations=2 padding=2,0 (x0, 3x2x2)\n-> %0"},
        {"more of it than the window is wide",
         [](Sketch &s) {
             return Ids{s.convolution({s.input({2, 2, 3})}, 4, {5}, {.padding = {{0, 9}}, .groups = 2})};
         },
         "%0 = convolution padding=0,7 groups=2 (x0, 4x1x3)\n-> %0"},
        {"strides that step over the image",
         [](Sketch &s) {
             return Ids{s.convolution({s.input({1, 2, 2})}, 3, {4}, {.strides = {5}, .padding = {{2, 5}}})};
         },
         "%0 = convolution strides=5 padding=0,5 (x0, 3x2x2)\n-> %0"},
        {"holes of the input are no padding",
         [](Sketch &s) {
             return Ids{s.convolution({s.input({1, 2, 3})}, 3, {3},
                                      {.input_dilation = {2}, .dilations = {5}, .padding = {{5, 5}}})};
         },
         "%0 = convolution input_dilation=2 (x0, 3x2x1)\n-> %0"},
        {"a window in padding alone keeps a tap",
         [](Sketch &s) {
             return Ids{s.convolution({s.input({1, 2, 3})}, 3, {2}, {.strides = {9}, .padding = {{4, -1}}})};
         },
         "%0 = convolution strides=9 padding=3,-1 (x0, 3x2x1)\n-> %0"},
    };
    expect_rows(rows, crop_windows);
}

}  // namespace
}  // namespace kiln::graph
