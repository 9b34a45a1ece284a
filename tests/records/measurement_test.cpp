// Statistics on synthetic noise: no clock, and seeds that are fixed, since what is expected of noise holds for most of it only.
#include "records/measurement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kiln {
namespace {

// Times as a shared machine gives them: a narrow peak, some calls that a neighbour slowed down, few very long ones.
Samples noisy_samples(int n, double true_ns, uint64_t seed) {
    std::mt19937_64 rng(seed);
    std::normal_distribution<double> jitter(0, 0.004);
    std::uniform_real_distribution<double> uniform(0, 1);
    Samples samples;
    for (int i = 0; i < n; i++) {
        double ns = true_ns * (1 + jitter(rng));
        const double luck = uniform(rng);
        if (luck < 0.10) {
            ns *= 1.3 + uniform(rng);
        } else if (luck < 0.11) {
            ns += 5e6;  // another process had the core
        } else if (luck < 0.12) {
            ns *= 0.9;  // a lucky run: the clock was high for a moment
        }
        samples.push_back(ns);
    }
    return samples;
}

TEST(MeasurementTest, SummaryOfKnownSamples) {
    struct Row {
        Samples samples;
        double median, min, spread, quiet;
    };
    const Row table[] = {
        {{5}, 5, 5, 0, 5},           {{4, 2}, 3, 2, 1.0 / 3, 2.5},
        {{3, 1, 2}, 2, 1, 0.5, 1.5}, {{4, 1, 3, 2, 5}, 3, 1, 2.0 / 3, 2},
        {{7, 7, 7, 7}, 7, 7, 0, 7},  {{0, 0}, 0, 0, 0, 0},
    };
    for (const Row &row : table) {
        const Summary summary = summarize(row.samples);
        EXPECT_DOUBLE_EQ(summary.median, row.median);
        EXPECT_DOUBLE_EQ(summary.min, row.min);
        EXPECT_DOUBLE_EQ(summary.spread, row.spread);
        EXPECT_DOUBLE_EQ(summary.quiet, row.quiet);
    }
}

TEST(MeasurementTest, TheMedianWithstandsOutliers) {
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const Summary summary = summarize(noisy_samples(100, 1.6e6, seed));
        EXPECT_NEAR(summary.median, 1.6e6, 0.005 * 1.6e6) << seed;
        EXPECT_LT(summary.spread, 0.05) << seed;
        EXPECT_LT(summary.min, 0.995 * 1.6e6) << "the minimum does not: seed " << seed;
    }
}

TEST(MeasurementTest, IntervalRanks) {
    // Ranks of the binomial interval for small n, as tables give them (95 %).
    struct Row {
        int n, lo, hi;  // ranks from 1
    };
    for (const Row &row : {Row{6, 1, 6}, {8, 1, 8}, {15, 3, 13}, {25, 7, 19}, {100, 40, 61}}) {
        Samples samples;
        for (int i = row.n; i >= 1; i--) {
            samples.push_back(i);
        }
        const Interval interval = median_interval(samples);
        EXPECT_EQ(interval.lo, row.lo) << row.n;
        EXPECT_EQ(interval.hi, row.hi) << row.n;
    }
}

TEST(MeasurementTest, TheIntervalCoversTheMedian) {
    int covered = 0;
    constexpr int runs = 1000;
    for (int seed = 1; seed <= runs; seed++) {
        std::mt19937_64 rng(seed);
        std::lognormal_distribution<double> distribution(0, 0.3);  // its median is 1
        Samples samples(31);
        std::generate(samples.begin(), samples.end(), [&] { return distribution(rng); });
        const Interval interval = median_interval(samples);
        covered += interval.lo <= 1 && 1 <= interval.hi;
    }
    EXPECT_GE(covered, runs * 93 / 100);
    EXPECT_LE(covered, runs * 99 / 100);
}

TEST(MeasurementTest, WhenToStop) {
    const SamplingLimits limits{.min_samples = 15,
                                .max_samples = 100,
                                .min_total_ns = 20e6,
                                .max_total_ns = 400e6,
                                .relative_precision = 0.005};
    const auto constant = [](int n, double ns) { return Samples(n, ns); };
    Samples wild;
    for (int i = 0; i < 50; i++) {
        wild.push_back(i % 2 ? 1e6 : 3e6);
    }
    struct Row {
        const char *what;
        Samples samples;
        bool enough;
    };
    const Row table[] = {
        {"nothing yet", {}, false},
        {"few samples, quiet", constant(14, 2e6), false},
        {"enough samples, quiet", constant(15, 2e6), true},
        {"enough samples, too short in total", constant(90, 1e5), false},
        {"the most there may be", constant(100, 1e3), true},
        {"not precise", wild, false},
        {"slow kernel: the time is used up", constant(5, 100e6), true},
        {"slow kernel: too few to tell", constant(4, 200e6), false},
    };
    for (const Row &row : table) {
        EXPECT_EQ(enough(row.samples, limits), row.enough) << row.what;
    }
    SamplingLimits three = limits;
    three.min_samples = 3;
    EXPECT_TRUE(enough(constant(3, 200e6), three));
}

TEST(MeasurementTest, QuietNoiseIsEnoughSoonerThanLoud) {
    const SamplingLimits limits;
    const auto needed = [&](double noise) {
        std::mt19937_64 rng(7);
        std::normal_distribution<double> jitter(1e6, noise * 1e6);
        Samples samples;
        while (!enough(samples, limits)) {
            samples.push_back(jitter(rng));
        }
        return samples.size();
    };
    EXPECT_LE(needed(0.001), 25u);
    EXPECT_GT(needed(0.03), 50u);
    EXPECT_LE(needed(0.5), 500u);  // the total time ends it
}

TEST(MeasurementTest, Unstable) {
    const SamplingLimits limits{.unstable_spread = 0.5};
    EXPECT_TRUE(unstable({}, limits));
    EXPECT_FALSE(unstable(noisy_samples(50, 1e6, 3), limits));
    EXPECT_TRUE(unstable({1, 1, 1, 2, 2, 2}, limits));
}

}  // namespace
}  // namespace kiln
