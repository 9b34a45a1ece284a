#include "rewrites/conv_shape.h"

#include <gtest/gtest.h>

#include <map>

#include "schedules/folded_shape.h"

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

// Phases see parts of the input where it lies; blocks of pixels see it folded.
TEST(ConvShape, TheInputInMemory) {
    Workload dilated = convolution({1, 14, 10, 64}, {3, 3, 64, 32});
    dilated.rhs_dilation = {2, 3};
    const ConvShape whole = conv_shape(dilated);
    EXPECT_EQ(whole.stored_input, (Three{10, 14, 1}));
    EXPECT_EQ(input_phase_shape(whole).stored_input, (Three{10, 14, 1}));
    EXPECT_NE(input_phase_shape(whole).input, (Three{10, 14, 1}));

    Workload holes = convolution({1, 14, 10, 64}, {3, 3, 64, 32});
    holes.lhs_dilation = {2, 2};
    EXPECT_EQ(phase_shape(conv_shape(holes)).stored_input, (Three{10, 14, 1}));

    Workload strided = convolution({1, 14, 10, 3}, {3, 3, 3, 32});
    strided.strides = {2, 2};
    EXPECT_EQ(folded_shape(conv_shape(strided), {2, 2, 1}).stored_input, (Three{5, 7, 1}));
    EXPECT_EQ(conv_shape(convolution({2, 14, 10, 64}, {1, 1, 64, 32})).stored_input, (Three{280, 1, 1}));
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

// The gradient of the input is a convolution of dy whose strides and holes have changed places; a stride of 2 leaves 2
// phases a dimension, which see 4 and 3 taps of 7.
TEST(ConvShape, TurnsTheGradientOfTheInput) {
    Workload w = convolution({2, 224, 220, 3}, {7, 5, 3, 64});
    w.op = Operation::conv_backprop_input;
    w.strides = {2, 2};
    w.padding = {{3, 3}, {2, 2}};
    const ConvShape s = conv_shape(w);
    EXPECT_TRUE(s.turned);
    EXPECT_EQ(s.input, (Three{110, 112, 1}));
    EXPECT_EQ(s.output, (Three{220, 224, 1}));
    EXPECT_EQ(s.hole, (Three{2, 2, 1}));
    EXPECT_EQ(s.stride, (Three{1, 1, 1}));
    EXPECT_EQ(s.pad_lo, (Three{2, 3, 0}));
    EXPECT_EQ(s.input_channels, 64);
    EXPECT_EQ(s.output_channels, 3);

    const ConvShape phased = phase_shape(s);
    EXPECT_EQ(phased.phases, (Three{2, 2, 1}));
    EXPECT_EQ(phased.output, (Three{110, 112, 1}));
    EXPECT_EQ(phased.kernel, (Three{3, 4, 1}));
    EXPECT_EQ(phased.hole, (Three{1, 1, 1}));
    EXPECT_EQ(phased.output_channels, 12);
    EXPECT_TRUE(phased.scatters());

    w = convolution({1, 56, 56, 64}, {4, 4, 64, 128});  // a transposed convolution: both phases see 2 taps of 4
    w.op = Operation::conv_backprop_input;
    w.strides = {2, 2};
    w.padding = {{1, 1}, {1, 1}};
    EXPECT_EQ(phase_shape(conv_shape(w)).kernel, (Three{2, 2, 1}));

    Workload pointwise = convolution({2, 14, 10, 64}, {1, 1, 64, 32});  // still a matrix product over all pixels
    pointwise.op = Operation::conv_backprop_input;
    EXPECT_EQ(conv_shape(pointwise).output, (Three{280, 1, 1}));
    EXPECT_EQ(conv_shape(pointwise).output_channels, 64);
}

TEST(ConvShape, GroupsOfTheBatchAreGroups) {
    Workload w = convolution({6, 14, 10, 5}, {3, 3, 5, 12});
    w.batch_group_count = 3;
    ConvShape s = conv_shape(w);
    EXPECT_EQ(s.groups, 3);
    EXPECT_EQ(s.batch, 2);
    EXPECT_EQ(s.input_channels, 5);
    EXPECT_EQ(s.stored_input_channels(), 5);
    EXPECT_EQ(s.all_input_channels(), 15);
    EXPECT_FALSE(s.scatters());

    w.op = Operation::conv_backprop_input;
    s = conv_shape(w);
    EXPECT_EQ(s.input_channels, 4);
    EXPECT_EQ(s.output_channels, 15);
    EXPECT_EQ(s.result_batch_groups, 3);
    EXPECT_TRUE(s.scatters());
}

// Every tap of the kernel that meets an input, for every output, is met exactly once by the output's phase, and no
// other is.
TEST(ConvShape, PhasesMeetEveryTapOnce) {
    const auto check = [](const ConvShape &whole) {
        const ConvShape phased = phase_shape(whole);
        const PhaseTaps taps = phase_taps(whole, phased, 0);
        for (int64_t o = 0; o < whole.output[0]; o++) {
            const int64_t from_origin = o + phased.phase_origin[0];
            const int64_t phase = from_origin % phased.phases[0], q = from_origin / phased.phases[0];
            std::map<int64_t, int64_t> expected, got;  // tap of the kernel -> input
            for (int64_t k = 0; k < whole.kernel[0]; k++) {
                const int64_t at = o * whole.stride[0] + k * whole.dilation[0] - whole.pad_lo[0];
                if (at % whole.hole[0] == 0) expected[k] = at / whole.hole[0];
            }
            for (int64_t m = 0; m < phased.kernel[0]; m++) {
                const int64_t reach = m * taps.scale + taps.shift - phase * taps.step;
                if (reach < 0 || reach % taps.dilation != 0 || reach / taps.dilation >= taps.kernel) continue;
                got[reach / taps.dilation] = q * phased.stride[0] + m * phased.dilation[0] - phased.pad_lo[0];
            }
            EXPECT_EQ(got, expected) << "output " << o << " of kernel " << whole.kernel[0] << " stride "
                                     << whole.stride[0] << " hole " << whole.hole[0] << " dilation "
                                     << whole.dilation[0] << " padding " << whole.pad_lo[0];
        }
    };
    for (int64_t hole = 2; hole <= 13; hole++)
        for (int64_t stride : {1, 2, 3, 4, 6, 12, 13})
            for (int64_t dilation : {1, 2, 3, 6, 13})
                for (int64_t kernel : {1, 2, 3, 7, 13})
                    for (int64_t pad : {-3, 0, 1, 5}) {
                        ConvShape s;
                        s.input[0] = 11, s.output[0] = 30, s.kernel[0] = kernel, s.stride[0] = stride;
                        s.hole[0] = hole, s.dilation[0] = dilation, s.pad_lo[0] = pad;
                        check(s);
                    }
}

// Every tap of every output reads the same input, or falls outside, seen through the output's phase of the input.
TEST(ConvShape, InputPhasesReadWhatTheDilatedWindowReads) {
    for (int64_t dilation : {1, 2, 3, 4, 6, 13})
        for (int64_t stride : {1, 2, 3, 4, 13})
            for (int64_t kernel : {1, 2, 3, 7})
                for (int64_t pad : {-2, 0, 1, 5}) {
                    ConvShape whole;
                    whole.input[0] = 40, whole.kernel[0] = kernel, whole.stride[0] = stride;
                    whole.dilation[0] = dilation, whole.pad_lo[0] = pad, whole.batch = 2;
                    if (40 + pad < whole.reach(1, 0)) continue;
                    whole.output[0] = (40 + pad - whole.reach(1, 0)) / stride + 1;
                    const ConvShape phased = input_phase_shape(whole);
                    const InputPhases &p = phased.input_phases[0];
                    EXPECT_EQ(phased.batch, 2 * p.count);
                    EXPECT_EQ(phased.dilation[0], 1);
                    for (int64_t o = 0; o < whole.output[0]; o++) {
                        ASSERT_LT(o / p.count, phased.output[0]);
                        for (int64_t k = 0; k < kernel; k++) {
                            const int64_t u = o / p.count * phased.stride[0] + k - phased.pad_lo[0];
                            EXPECT_EQ(u * p.step + o % p.count * p.shift - p.lead, o * stride + k * dilation - pad)
                                << "output " << o << " tap " << k << " stride " << stride << " dilation " << dilation;
                        }
                    }
                }
}

TEST(ConvShape, KnowsWindowsThatSeeOnlyPadding) {
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
        EXPECT_EQ(every_window_meets_input(conv_shape(w), 0), row.every) << key(w);
    }
}

}  // namespace
}  // namespace kiln
