#include "schedules/conv_shape.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Three = std::array<int64_t, 3>;

TEST(ConvShape, MergesWhatIsOnlyWalkedOver) {
    ConvShape s = conv_shape(convolution({2, 14, 10, 64}, {1, 1, 64, 32}));  // pointwise: all pixels in a row
    EXPECT_EQ(s.output, (Three{280, 1, 1}));
    EXPECT_EQ(s.batch, 1);
    EXPECT_EQ(s.input_channels, 64);
    EXPECT_EQ(s.output_channels, 32);

    s = conv_shape(convolution({2, 14, 10, 64}, {1, 3, 64, 32}));  // 1x3: rows are images
    EXPECT_EQ(s.output, (Three{8, 1, 1}));
    EXPECT_EQ(s.batch, 28);

    s = conv_shape(convolution({2, 14, 10, 64}, {3, 1, 64, 32}));  // 3x1: nothing to merge
    EXPECT_EQ(s.output, (Three{10, 12, 1}));
    EXPECT_EQ(s.batch, 2);

    s = conv_shape(convolution({2, 5, 14, 10, 8}, {1, 3, 3, 8, 4}));  // planes are images
    EXPECT_EQ(s.output, (Three{8, 12, 1}));
    EXPECT_EQ(s.batch, 10);

    s = conv_shape(convolution({2, 5, 14, 10, 8}, {3, 1, 1, 8, 4}));  // rows merge inside a plane, planes stay
    EXPECT_EQ(s.output, (Three{140, 1, 3}));
    EXPECT_EQ(s.batch, 2);

    Workload strided = convolution({2, 14, 10, 64}, {1, 1, 64, 32});
    strided.strides = {2, 2};
    s = conv_shape(strided);
    EXPECT_EQ(s.output, (Three{5, 7, 1}));
    EXPECT_EQ(s.batch, 2);

    EXPECT_EQ(conv_shape(convolution({3, 9, 4}, {3, 4, 8})).output, (Three{7, 1, 1}));
}

// In NCHW the batch is not the neighbour of rows and planes; rows and columns of one plane are.
TEST(ConvShape, MergesOnlyNeighboursInMemory) {
    Workload pointwise = convolution({2, 14, 10, 64}, {1, 1, 64, 40});
    pointwise.input_layout = {ActivationLayout::Kind::nchw, 0};
    pointwise.output_layout = {ActivationLayout::Kind::nchwc, 16};
    ConvShape s = conv_shape(pointwise);
    EXPECT_EQ(s.output, (Three{140, 1, 1}));
    EXPECT_EQ(s.batch, 2);
    EXPECT_EQ(s.input_block, 1);
    EXPECT_EQ(s.output_block, 16);
    EXPECT_EQ(s.stored_channels(), 48);

    Workload row = convolution({2, 14, 10, 64}, {1, 3, 64, 32});
    row.output_layout = {ActivationLayout::Kind::nchw, 0};
    EXPECT_EQ(conv_shape(row).output, (Three{8, 14, 1}));
    EXPECT_EQ(conv_shape(convolution({2, 14, 10, 64}, {1, 3, 64, 32})).output_block, 32);  // NHWC: one block
}

TEST(ConvShape, JoinsColumnsToChannels) {
    const ConvShape joined = joined_columns(conv_shape(convolution({1, 31, 29, 3}, {7, 5, 3, 8})));
    EXPECT_EQ(joined.input_channels, 15);
    EXPECT_EQ(joined.kernel, (Three{1, 7, 1}));
    EXPECT_EQ(joined.output, (Three{25, 25, 1}));
}

TEST(ConvShape, ReadsOutsideOnlyWhereATapCan) {
    struct Row {
        int64_t input, kernel, stride, lo, hi;
        bool outside;
    };
    constexpr Row rows[] = {
        {8, 3, 1, 0, 0, false}, {8, 3, 1, 1, 0, true},  {8, 3, 1, 0, 1, true}, {8, 3, 1, -1, -1, false},
        {8, 3, 2, 0, 1, true},  {9, 3, 2, 0, 1, false},  // the stride never reaches the padding
    };
    for (const Row &r : rows) {
        Workload w = convolution({1, r.input, 4}, {r.kernel, 4, 4});
        w.strides = {r.stride};
        w.padding = {{r.lo, r.hi}};
        EXPECT_EQ(conv_shape(w).reads_outside(0), r.outside) << r.input << " " << r.lo << " " << r.hi;
    }
}

}  // namespace
}  // namespace kiln
