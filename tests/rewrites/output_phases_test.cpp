// The window that the phases of an output share: the smallest one, found without a walk over the phases. That results stay the
// same is in rewritten_convolutions_test.cpp.
#include "rewrites/output_phases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "schedules/space.h"

namespace kiln {
namespace {

// A hole of a hundred million has as many phases, of which three have a tap.
TEST(OutputPhases, OfLargeHolesAreThoseWithTaps) {
    const struct {
        const char *key;
        int64_t phases, kernel, output, pad_lo;
        bool taps_missing;
    } rows[] = {
        // Output 0 has tap 0, and outputs 7998 and 7999 the others; of phases from -2 on, all of them read input 0.
        {"conv1d/input:1x3x8/kernel:3x8x8/lhs_dilation:8000", 3, 1, 3, 0, false},
        {"conv1d/input:1x3x8/kernel:3x8x8/lhs_dilation:100000000", 3, 1, 3, 0, false},
        // Taps 0 and 2 are of phases 0 and 1, tap 1 is of none.
        {"conv1d/input:1x9x8/kernel:3x8x8/strides:4/lhs_dilation:6", 2, 2, 4, 0, true},
        // No output meets an input.
        {"conv1d/input:1x9x8/kernel:1x8x8/strides:2/padding:1,0/lhs_dilation:2", 1, 1, 9, 0, true},
    };
    for (const auto &row : rows) {
        const auto w = parse_workload_key(row.key);
        ASSERT_TRUE(w) << row.key << ": " << w.error().message;
        const ConvLoops s = output_phases(conv_loops(*w));
        EXPECT_EQ(s.phases, row.phases) << row.key;
        EXPECT_EQ(s.kernel[0], row.kernel) << row.key;
        EXPECT_EQ(s.output[0], row.output) << row.key;
        EXPECT_EQ(s.pad_lo[0], row.pad_lo) << row.key;
        EXPECT_EQ(s.taps_missing, row.taps_missing) << row.key;
    }
}

// Of the gradient of 1x1 with a stride of 7, an image's outputs are 49 phases, of which one has a tap.
TEST(OutputPhases, WithoutTapsHaveNoSums) {
    const auto w = parse_workload_key("conv2d_backprop_input/input:1x57x57x64/kernel:1x1x64x128/strides:7x7");
    ASSERT_TRUE(w) << w.error().message;
    const ConvLoops s = output_phases(conv_loops(*w));
    EXPECT_EQ(s.phases, 1);
    EXPECT_EQ(s.output_channels, 64);
    EXPECT_EQ(s.output, (std::array<int64_t, 3>{9, 9, 1}));
    EXPECT_EQ(s.taps(), 1);
    EXPECT_FALSE(s.taps_missing);
    EXPECT_TRUE(s.scatters());
    ASSERT_EQ(s.phases_with_taps.size(), 2u);
    for (const PhasesWithTaps &phases : s.phases_with_taps) EXPECT_EQ(phases.place.extent, 1);
}

// What the taps of the phases from -origin on reach, each phase and tap looked at. Taps of a phase may be no further apart than its
// first two would be.
struct Window {
    int64_t taps = 1, fewest = std::numeric_limits<int64_t>::max();
    int64_t phases = 0;  // with taps; the fewest are of one of them
};

Window window_from(const ConvShape &s, int64_t origin, int64_t phases) {
    std::vector<int64_t> inputs;
    Window window;
    for (int64_t f = -origin; f < phases - origin; f++) {
        const size_t before = inputs.size();
        for (int64_t k = 0; k < s.kernel[0]; k++) {
            const int64_t at = f * s.stride[0] + k * s.dilation[0] - s.pad_lo[0];
            if (at % s.hole[0] == 0) inputs.push_back(at / s.hole[0]);
        }
        const auto taps = int64_t(inputs.size() - before);
        if (taps > 0) window.fewest = std::min(window.fewest, taps), window.phases++;
    }
    if (inputs.empty()) return window;
    const auto [first, last] = std::ranges::minmax(inputs);
    int64_t step = s.dilation[0] / std::gcd(s.dilation[0], s.hole[0]);
    for (const int64_t at : inputs) step = std::gcd(step, at - first);
    window.taps = (last - first) / step + 1;
    return window;
}

TEST(OutputPhases, ShareTheSmallestWindow) {
    Rng rng(1);
    const auto draw = [&](int64_t lo, int64_t hi) { return lo + int64_t(rng() % uint64_t(hi - lo + 1)); };
    for (int i = 0; i < 3000; i++) {
        Workload w = convolution({1, draw(1, 6), 1}, {draw(1, 9), 1, 1});
        w.strides = {draw(1, 12)}, w.lhs_dilation = {draw(2, 12)}, w.rhs_dilation = {draw(1, 12)};
        w.padding = {{draw(-3, 12), draw(0, 12)}};
        if (!validate(w) || elements(output_shape(w)) == 0) continue;
        const ConvLoops stated = conv_loops(w), s = output_phases(stated);
        const int64_t phases = stated.hole[0] / std::gcd(stated.stride[0], stated.hole[0]);
        Window smallest = window_from(stated, 0, phases);
        for (int64_t origin = 1; origin < phases; origin++)
            smallest.taps = std::min(smallest.taps, window_from(stated, origin, phases).taps);
        ASSERT_LE(s.phases, phases) << key(w);
        ASSERT_GE(s.phases, smallest.phases) << key(w);
        ASSERT_EQ(s.phases_with_taps.empty(), s.phases == phases) << key(w);
        const bool have_a_tap_or_none = w.rhs_dilation[0] == 1 && w.strides[0] == 1 && w.kernel[0] <= w.lhs_dilation[0];
        if (have_a_tap_or_none) {
            ASSERT_EQ(s.phases, w.kernel[0]) << key(w);
        }
        ASSERT_EQ(s.kernel[0], smallest.taps) << key(w);
        ASSERT_EQ(s.taps_missing, smallest.phases < s.phases || smallest.fewest < smallest.taps) << key(w);
    }
}

}  // namespace
}  // namespace kiln
