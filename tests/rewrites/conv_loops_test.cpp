#include "rewrites/conv_loops.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "rewrites/fold.h"
#include "rewrites/input_phases.h"
#include "rewrites/output_phases.h"
#include "rewrites/panels.h"

namespace kiln {
namespace {

using Three = std::array<int64_t, 3>;

TEST(ConvShape, CountsPositionsThatAreRead) {
    for (const auto &[stride, dilation] : {std::pair{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 2}, {4, 6}, {5, 1}, {1, 7}}) {
        for (int64_t kernel = 1; kernel <= 5; kernel++) {
            for (int64_t outputs = 1; outputs <= 9; outputs++) {
                std::set<int64_t> read;
                for (int64_t i = 0; i < outputs * kernel; i++) read.insert(i / kernel * stride + i % kernel * dilation);
                ConvShape s;
                s.kernel[0] = kernel, s.stride[0] = stride, s.dilation[0] = dilation;
                EXPECT_EQ(s.positions_read(outputs, 0), static_cast<int64_t>(read.size()))
                    << outputs << " outputs of " << kernel << " taps, " << stride << ' ' << dilation;
            }
        }
    }
}

TEST(ConvLoops, MergesWhatIsOnlyWalkedOver) {
    ConvLoops s = conv_loops(convolution({2, 14, 10, 64}, {1, 1, 64, 32}));  // pointwise: all pixels in a row
    EXPECT_EQ(s.output, (Three{280, 1, 1}));
    EXPECT_EQ(s.batch, 1);
    EXPECT_EQ(s.input_channels, 64);
    EXPECT_EQ(s.output_channels, 32);

    s = conv_loops(convolution({2, 14, 10, 64}, {1, 3, 64, 32}));  // 1x3: rows are images
    EXPECT_EQ(s.output, (Three{8, 1, 1}));
    EXPECT_EQ(s.batch, 28);

    s = conv_loops(convolution({2, 14, 10, 64}, {3, 1, 64, 32}));  // 3x1: nothing to merge
    EXPECT_EQ(s.output, (Three{10, 12, 1}));
    EXPECT_EQ(s.batch, 2);

    s = conv_loops(convolution({2, 5, 14, 10, 8}, {1, 3, 3, 8, 4}));  // planes are images
    EXPECT_EQ(s.output, (Three{8, 12, 1}));
    EXPECT_EQ(s.batch, 10);

    s = conv_loops(convolution({2, 5, 14, 10, 8}, {3, 1, 1, 8, 4}));  // rows merge inside a plane, planes stay
    EXPECT_EQ(s.output, (Three{140, 1, 3}));
    EXPECT_EQ(s.batch, 2);

    Workload strided = convolution({2, 14, 10, 64}, {1, 1, 64, 32});
    strided.strides = {2, 2};
    s = conv_loops(strided);
    EXPECT_EQ(s.output, (Three{5, 7, 1}));
    EXPECT_EQ(s.batch, 2);

    EXPECT_EQ(conv_loops(convolution({3, 9, 4}, {3, 4, 8})).output, (Three{7, 1, 1}));
}

// Phases see parts of the input where it lies; blocks of pixels see it folded.
// Images of one column have the loops of images of one row, and volumes of one column those of planes.
TEST(ConvLoops, RowsOfOneColumnAreColumns) {
    ConvLoops s = conv_loops(convolution({1, 1000, 1, 64}, {9, 1, 64, 8}));
    EXPECT_EQ(s.input, (Three{1000, 1, 1}));
    EXPECT_EQ(s.output, (Three{992, 1, 1}));
    EXPECT_EQ(s.kernel, (Three{9, 1, 1}));
    EXPECT_EQ(s.stored_input.space, s.input);
    EXPECT_EQ(s.stored_result.space, s.output);
    EXPECT_EQ(s.kernel_map[stored_kernel_index::s].extent, 9);

    Workload w = convolution({2, 9, 7, 1, 8}, {3, 5, 1, 8, 4});
    w.strides = {2, 1, 3};
    w.padding = {{1, 1}, {2, 2}, {0, 0}};
    s = conv_loops(w);
    EXPECT_EQ(s.output, (Three{7, 5, 1}));
    EXPECT_EQ(s.kernel, (Three{5, 3, 1}));
    EXPECT_EQ(s.stride, (Three{1, 2, 1}));
    EXPECT_EQ(s.pad_lo, (Three{2, 1, 0}));

    s = conv_loops(convolution({2, 9, 1, 1, 8}, {3, 1, 1, 8, 4}));  // of one column and one row: planes are columns
    EXPECT_EQ(s.output, (Three{7, 1, 1}));

    w = convolution({1, 9, 1, 8}, {3, 1, 8, 4});
    w.padding = {{0, 0}, {1, 1}};
    EXPECT_EQ(conv_loops(w).output, (Three{3, 7, 1}));  // columns of padding are columns, too
    EXPECT_EQ(conv_loops(convolution({1, 1, 1, 8}, {1, 1, 8, 4})).output, (Three{1, 1, 1}));
    EXPECT_EQ(depthwise_loops(*parse_workload_key("conv2d/input:1x9x1x8/kernel:1x1x8x4/depthwise:3x1")).output,
              (Three{1, 7, 1}));  // as stated
}

TEST(ConvLoops, TheInputInMemory) {
    Workload dilated = convolution({1, 14, 10, 64}, {3, 3, 64, 32});
    dilated.rhs_dilation = {2, 3};
    const ConvLoops whole = conv_loops(dilated);
    EXPECT_EQ(whole.stored_input.space, (Three{10, 14, 1}));
    EXPECT_EQ(input_phases(whole).stored_input.space, (Three{10, 14, 1}));
    EXPECT_NE(input_phases(whole).input, (Three{10, 14, 1}));

    Workload holes = convolution({1, 14, 10, 64}, {3, 3, 64, 32});
    holes.lhs_dilation = {2, 2};
    EXPECT_EQ(output_phases(conv_loops(holes)).stored_input.space, (Three{10, 14, 1}));

    Workload strided = convolution({1, 14, 10, 3}, {3, 3, 3, 32});
    strided.strides = {2, 2};
    EXPECT_EQ(folded(conv_loops(strided), {2, 2, 1}).stored_input.space, (Three{10, 14, 1}));
    EXPECT_EQ(conv_loops(convolution({2, 14, 10, 64}, {1, 1, 64, 32})).stored_input.space, (Three{280, 1, 1}));
}

// In NCHW the batch is not the neighbour of rows and planes; rows and columns of one plane are.
TEST(ConvLoops, MergesOnlyNeighboursInMemory) {
    Workload pointwise = convolution({2, 14, 10, 64}, {1, 1, 64, 40});
    pointwise.input_layout = {ActivationLayout::Kind::nchw, 0};
    pointwise.output_layout = {ActivationLayout::Kind::nchwc, 16};
    ConvLoops s = conv_loops(pointwise);
    EXPECT_EQ(s.output, (Three{140, 1, 1}));
    EXPECT_EQ(s.batch, 2);
    EXPECT_EQ(s.input_block, 1);
    EXPECT_EQ(s.output_block, 16);
    EXPECT_EQ(s.stored_channels(), 48);

    Workload row = convolution({2, 14, 10, 64}, {1, 3, 64, 32});
    row.output_layout = {ActivationLayout::Kind::nchw, 0};
    EXPECT_EQ(conv_loops(row).output, (Three{8, 14, 1}));
    EXPECT_EQ(conv_loops(convolution({2, 14, 10, 64}, {1, 3, 64, 32})).output_block, 32);  // NHWC: one block
}

TEST(ConvLoops, JoinsColumnsToChannels) {
    const ConvLoops joined = joined_columns(conv_loops(convolution({1, 31, 29, 3}, {7, 5, 3, 8})));
    EXPECT_EQ(joined.input_channels, 15);
    EXPECT_EQ(joined.kernel, (Three{1, 7, 1}));
    EXPECT_EQ(joined.output, (Three{25, 25, 1}));
}

TEST(ConvLoops, ReadsOutsideOnlyWhereATapCan) {
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
        EXPECT_EQ(conv_loops(w).reads_outside(0), r.outside) << r.input << " " << r.lo << " " << r.hi;
    }
}

// The gradient of the input is a convolution of dy whose strides and holes have changed places; a stride of 2 leaves 2
// phases a dimension, which see 4 and 3 taps of 7.
TEST(ConvLoops, TurnsTheGradientOfTheInput) {
    Workload w = convolution({2, 224, 220, 3}, {7, 5, 3, 64});
    w.op = Operation::conv_backprop_input;
    w.strides = {2, 2};
    w.padding = {{3, 3}, {2, 2}};
    const ConvLoops s = conv_loops(w);
    EXPECT_EQ(s.input, (Three{110, 112, 1}));
    EXPECT_EQ(s.output, (Three{220, 224, 1}));
    EXPECT_EQ(s.hole, (Three{2, 2, 1}));
    EXPECT_EQ(s.stride, (Three{1, 1, 1}));
    EXPECT_EQ(s.pad_lo, (Three{2, 3, 0}));
    EXPECT_EQ(s.input_channels, 64);
    EXPECT_EQ(s.output_channels, 3);

    const ConvLoops phased = output_phases(s);
    EXPECT_EQ(phased.phases, 4);
    EXPECT_EQ(phased.output, (Three{110, 112, 1}));
    EXPECT_EQ(phased.kernel, (Three{3, 4, 1}));
    EXPECT_EQ(phased.hole, (Three{1, 1, 1}));
    EXPECT_EQ(phased.output_channels, 12);
    EXPECT_TRUE(phased.scatters());

    w = convolution({1, 56, 56, 64}, {4, 4, 64, 128});  // a transposed convolution: both phases see 2 taps of 4
    w.op = Operation::conv_backprop_input;
    w.strides = {2, 2};
    w.padding = {{1, 1}, {1, 1}};
    EXPECT_EQ(output_phases(conv_loops(w)).kernel, (Three{2, 2, 1}));

    Workload pointwise = convolution({2, 14, 10, 64}, {1, 1, 64, 32});  // still a matrix product over all pixels
    pointwise.op = Operation::conv_backprop_input;
    EXPECT_EQ(conv_loops(pointwise).output, (Three{280, 1, 1}));
    EXPECT_EQ(conv_loops(pointwise).output_channels, 64);
}

TEST(ConvLoops, GroupsOfTheBatchAreGroups) {
    Workload w = convolution({6, 14, 10, 5}, {3, 3, 5, 12});
    w.batch_group_count = 3;
    ConvLoops s = conv_loops(w);
    EXPECT_EQ(s.groups, 3);
    EXPECT_EQ(s.batch, 2);
    EXPECT_EQ(s.input_channels, 5);
    EXPECT_EQ(s.image_channels, 5);
    EXPECT_EQ(s.all_input_channels(), 15);
    EXPECT_FALSE(s.scatters());

    w.op = Operation::conv_backprop_input;
    s = conv_loops(w);
    EXPECT_EQ(s.input_channels, 4);
    EXPECT_EQ(s.output_channels, 15);
    EXPECT_EQ(s.stored_result.images, 6);
    EXPECT_EQ(s.stored_result.channels, 5);
    EXPECT_TRUE(s.scatters());
}

TEST(ConvLoops, KnowsWindowsThatSeeOnlyPadding) {
    struct Row {
        int64_t input, kernel, dilation, stride, pad_lo, pad_hi;
        bool every;
    };
    constexpr Row rows[] = {
        {8, 3, 1, 1, 0, 0, true}, {8, 3, 1, 1, 2, 2, true},  {8, 3, 1, 1, 3, 0, false}, {8, 3, 1, 1, 0, 3, false},
        {8, 3, 2, 1, 4, 4, true}, {8, 3, 2, 1, 5, 0, false}, {2, 2, 4, 1, 2, 2, false}, {1, 2, 2, 1, 2, 2, false},
        {2, 3, 2, 1, 2, 2, true}, {8, 1, 1, 2, 0, 0, true},  {8, 2, 1, 3, 3, 0, false}, {8, 3, 1, 1, -1, -1, true},
    };
    for (const Row &row : rows) {
        Workload w = convolution({1, row.input, 4}, {row.kernel, 4, 4});
        w.strides = {row.stride}, w.rhs_dilation = {row.dilation}, w.padding = {{row.pad_lo, row.pad_hi}};
        EXPECT_EQ(every_window_meets_input(conv_loops(w), 0), row.every) << key(w);
    }
}

TEST(ConvLoops, KnowsPlanesThatSeeOnlyPadding) {
    struct Row {
        int64_t planes, kernel, dilation, hole, pad_lo, pad_hi;
        bool every;
    };
    constexpr Row rows[] = {{8, 3, 1, 1, 0, 0, true},  {8, 3, 1, 1, 2, 2, true}, {8, 3, 1, 1, 3, 0, false},
                            {1, 2, 3, 1, 2, 2, false}, {1, 2, 3, 1, 0, 3, true}, {2, 2, 3, 2, 2, 2, true},
                            {2, 2, 4, 1, 2, 2, false}, {2, 3, 3, 1, 3, 3, true}};
    for (const Row &row : rows) {
        Workload w = convolution({1, row.planes, 4, 5, 4}, {row.kernel, 2, 2, 4, 4});
        w.rhs_dilation = {row.dilation, 1, 1}, w.lhs_dilation = {row.hole, 1, 1};
        w.padding = {{row.pad_lo, row.pad_hi}, {0, 0}, {0, 0}};
        EXPECT_EQ(every_window_meets_planes(conv_loops(w)), row.every) << key(w);
    }
}

}  // namespace
}  // namespace kiln
