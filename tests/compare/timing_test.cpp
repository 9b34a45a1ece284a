#include "compare/timing.h"

#include <gtest/gtest.h>

#include "compare/roofline.h"

namespace kiln {
namespace {

Timing timing(std::vector<double> rounds_ns) {
    Timing t;
    for (const double ns : rounds_ns) t.add(ns, ns * 0.9);
    return t;
}

TEST(TimingTest, MedianAndMinimum) {
    const Timing t = timing({300, 100, 200});
    EXPECT_EQ(t.median_ns(), 200);
    EXPECT_EQ(t.min_ns, 90);
}

TEST(RatioTest, MedianOfTheRoundsRatiosAndTheirQuartiles) {
    const struct {
        std::vector<double> other, ours;
        Ratio expected;
    } cases[] = {
        // A slow phase in the second round met both.
        {{110, 220, 120, 105, 130}, {100, 200, 100, 100, 100}, {1.1, 1.1, 1.2}},
        // The medians alone, 300 and 110, would say 2.73.
        {{300, 330, 290, 310, 281}, {100, 110, 120, 104, 110}, {310.0 / 104, 281.0 / 110, 3.0}},
        {{50}, {100}, {0.5, 0.5, 0.5}},
        {{50, 60, 90}, {100}, {0.5, 0.5, 0.5}},
        {{100, 300}, {100, 100}, {2, 1, 3}},
    };
    for (const auto &c : cases) {
        const Ratio r = ratio(timing(c.other), timing(c.ours));
        EXPECT_DOUBLE_EQ(r.value, c.expected.value);
        EXPECT_DOUBLE_EQ(r.lo, c.expected.lo);
        EXPECT_DOUBLE_EQ(r.hi, c.expected.hi);
        EXPECT_LE(r.lo, r.value);
        EXPECT_LE(r.value, r.hi);
    }
}

TEST(Roofline, PeakOrTheBandwidthOfWhatHoldsTheTensors) {
    const FmaPeak peak{"", 80, 1, 1};
    // 100 000 operations; 6 000 bytes are read, 20 000 written.
    const Workload w = convolution({1, 10, 10, 10}, {1, 1, 10, 50});
    const Bandwidth l1{"L1", 8192, 2000, 1000}, l2{"L2", 1 << 18, 20, 10}, far{"DRAM", 1 << 26, 10, 5};
    EXPECT_EQ(roofline_gflops(w, peak, {}, 1), 80);
    EXPECT_NEAR(*roofline_gflops(w, peak, {l1, l2, far}, 1), 1e5 / 2600, 1e-9);
    EXPECT_EQ(*roofline_gflops(w, peak, {l1, l2, far}, 2), 80);  // fits both cores' L1
    EXPECT_NEAR(*roofline_gflops(w, peak, {far}, 1), 1e5 / 5200, 1e-9);
    // 4 040 000 bytes are read, 4 000 written.
    const Workload reads = convolution({1, 1, 1, 1000}, {1, 1, 1000, 1000});
    EXPECT_NEAR(*roofline_gflops(reads, peak, {far}, 1), 2e6 / (8000 / 5.0 + 4e6 / 10), 1e-6);
    EXPECT_FALSE(traffic(w, {}, 1));
    const Workload half = *parse_workload_key("conv2d/input:1x10x10x10/kernel:1x1x10x50/dtype:bf16/epilogue:bias");
    const struct {
        const Workload &workload;
        const char *level;
        int threads;
        double read, written, ns;
    } rows[] = {
        {w, "L2", 1, 6000, 20000, 2600},
        {w, "L1", 2, 6000, 20000, 26},
        {half, "L1", 1, 3200, 10000, 13.2},
        {reads, "DRAM", 1, 4004000, 4000, 8000 / 5.0 + 4e6 / 10},
    };
    for (const auto &row : rows) {
        const auto moved = traffic(row.workload, {l1, l2, far}, row.threads);
        ASSERT_TRUE(moved);
        EXPECT_EQ(moved->level, row.level);
        EXPECT_EQ(moved->bytes_read, row.read);
        EXPECT_EQ(moved->bytes_written, row.written);
        EXPECT_NEAR(moved->ns, row.ns, 1e-6);
    }
    const Workload transform = *parse_workload_key("winograd_input_transform/input:1x8x8x16/window:3x3/tile:2x2");
    EXPECT_FALSE(roofline_gflops(transform, peak, {l1}, 1));
}

}  // namespace
}  // namespace kiln
