// What strides become in loops of stride 1: sizes, and which pixels of a block the last tap has weights for. That results
// stay the same is in rewritten_convolutions_test.cpp.
#include <gtest/gtest.h>

#include "rewrites/fold.h"

namespace kiln {
namespace {

TEST(UnitStrides, FoldWhatHasTapsAndStepWhereThereIsOne) {
    struct Row {
        const char *key;
        int64_t channels, kernel, input;  // the last two along x
        FoldedPixels x, y;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x9x9x4/kernel:3x3x4x8", 4, 3, 9, {1, 1}, {1, 1}},
        {"conv2d/input:1x9x9x4/kernel:3x3x4x8/strides:2x2/padding:1,1x1,1", 16, 2, 6, {2, 1}, {2, 1}},
        {"conv2d/input:1x9x9x4/kernel:3x3x4x8/strides:2x2", 16, 2, 5, {2, 1}, {2, 1}},
        {"conv2d/input:1x9x9x4/kernel:5x5x4x8/strides:2x2/padding:2,2x2,2", 16, 3, 7, {2, 1}, {2, 1}},
        {"conv2d/input:1x9x9x4/kernel:4x4x4x8/strides:2x2/padding:1,1x1,1", 16, 2, 5, {2, 2}, {2, 2}},
        {"conv2d/input:1x9x9x4/kernel:5x5x4x8/strides:3x3/padding:1,1x1,1", 36, 2, 4, {3, 2}, {3, 2}},
        {"conv2d/input:1x9x9x4/kernel:3x3x4x8/strides:2x1", 8, 3, 9, {1, 1}, {2, 1}},
        {"conv2d/input:1x9x9x4/kernel:3x1x4x8/strides:2x2", 8, 1, 5, {1, 1}, {2, 1}},
        {"conv2d/input:1x9x9x4/kernel:3x3x4x8/strides:3x3", 36, 1, 3, {3, 3}, {3, 3}},
        {"conv2d/input:1x12x12x4/kernel:3x3x4x8/strides:2x2/rhs_dilation:2x2", 4, 3, 6, {1, 1}, {1, 1}},
        {"conv2d_backprop_input/input:1x9x9x8/kernel:3x3x8x4/lhs_dilation:2x2", 16, 2, 10, {2, 1}, {2, 1}},
    };
    for (const Row &row : rows) {
        const auto w = parse_workload_key(row.key);
        ASSERT_TRUE(w) << row.key << ": " << w.error().message;
        const ConvLoops s = unit_strides(conv_loops(*w));
        EXPECT_EQ(s.stride, (std::array<int64_t, 3>{1, 1, 1})) << row.key;
        EXPECT_EQ(s.input_channels, row.channels) << row.key;
        EXPECT_EQ(s.kernel[0], row.kernel) << row.key;
        EXPECT_EQ(s.input[0], row.input) << row.key;
        EXPECT_EQ(folded_pixels(s, 0), row.x) << row.key;
        EXPECT_EQ(folded_pixels(s, 1), row.y) << row.key;
    }
}

// Neighbours in memory are neighbours among channels: those of a pixel come first, then those of its right neighbour.
TEST(UnitStrides, ChannelsOfAPixelStayTogether) {
    const ConvLoops s = unit_strides(
        conv_loops(*parse_workload_key("conv2d/input:1x9x9x4/kernel:3x3x4x8/strides:2x2/padding:1,1x1,1")));
    for (int64_t c = 0; c < 16; c++) {
        const auto at = locate(s.input_map, std::vector<int64_t>{c, 1, 2, 0, 0});
        ASSERT_TRUE(at) << c;
        EXPECT_EQ(*at, (std::vector<int64_t>{c % 4, 1 + c / 4 % 2, 3 + c / 8, 0, 0})) << c;
    }
}

}  // namespace
}  // namespace kiln
