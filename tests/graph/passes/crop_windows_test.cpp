// Windows of convolutions of which some taps meet nothing but padding.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "graph/passes/passes.h"
#include "graph/window_axis.h"
#include "tests/graph/passes/rows.h"
#include "tests/test_seed.h"

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

// As an input may say that it is. Nothing is computed.
TEST(CropWindows, AxesOfBillions) {
    constexpr int64_t many = int64_t{1} << 37;
    const struct {
        int64_t extent, taps, dilation;
        Padding padding;
        const char *expected;
    } rows[] = {
        {many, 3, 1, {1, 1}, "%0 = convolution padding=1,1 (x0, 1x1x3)\n-> %0"},
        {4, 3, 1, {many, many}, "%0 = convolution padding=137438953472,137438953472 (x0, 1x1x3)\n-> %0"},
        {many, 2, 2 * many, {2 * many, 0}, "%0 = convolution (x0, 1x1x1)\n-> %0"},
        {1, 3, many, {many, many}, "%0 = convolution (x0, 1x1x1)\n-> %0"},
    };
    for (const auto &row : rows) {
        Sketch s;
        const ValueId y = s.convolution({s.input({1, 1, row.extent})}, 1, {row.taps},
                                        {.dilations = {row.dilation}, .padding = {row.padding}});
        EXPECT_EQ(told(crop_windows(std::move(s).finish({y}))), row.expected);
    }
}

// What is found from the ends is what all results say.
TEST(WindowAxis, UsedTapsAreThoseOfAllResults) {
    std::mt19937_64 rng(test_seed());
    const auto draw = [&](int64_t lo, int64_t hi) { return lo + int64_t(rng() % uint64_t(hi - lo + 1)); };
    for (int i = 0; i < 5000; i++) {
        const WindowAxis axis{draw(1, 9), draw(1, 5), draw(1, 4), draw(1, 12), {draw(-3, 20), draw(-3, 20)}};
        if (axis.results() == 0) continue;
        TapRange used{axis.taps - 1, 1};
        bool is_read = false, misses = false;
        for (int64_t result = 0; result < axis.results(); result++) {
            const TapRange taps = axis.taps_of(result);
            misses = misses || taps.count == 0;
            if (taps.count == 0) continue;
            const int64_t end =
                is_read ? std::max(used.first + used.count, taps.first + taps.count) : taps.first + taps.count;
            used.first = is_read ? std::min(used.first, taps.first) : taps.first;
            used.count = end - used.first;
            is_read = true;
        }
        EXPECT_EQ(axis.used_taps(), used)
            << axis.extent << " " << axis.taps << " " << axis.stride << " " << axis.dilation;
        EXPECT_EQ(axis.misses_image(), misses);
    }
}

}  // namespace
}  // namespace kiln::graph
