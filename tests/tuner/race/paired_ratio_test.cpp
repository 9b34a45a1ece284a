// Intervals of synthetic times: rounds that share their noise, heats that shift one kernel.
#include "tuner/race/paired_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

namespace kiln {
namespace {

struct Race {
    double ratio = 1;       // of the first kernel to the second
    double machine = 0.2;   // what the machine does to both in a round
    double jitter = 0.005;  // to each
    double placement = 0;   // to each, in a whole heat
    int heats = 3, rounds = 30;
};

std::pair<Heats, Heats> run(const Race &race, uint64_t seed) {
    std::mt19937_64 rng(seed);
    std::normal_distribution<double> normal(0, 1);
    std::pair<Heats, Heats> heats;
    for (int h = 0; h < race.heats; h++) {
        Samples a, b;
        const double shift_a = race.placement * normal(rng), shift_b = race.placement * normal(rng);
        for (int r = 0; r < race.rounds; r++) {
            const double machine = 1e5 * std::exp(race.machine * std::abs(normal(rng)));
            a.push_back(machine * race.ratio * std::exp(shift_a + race.jitter * normal(rng)));
            b.push_back(machine * std::exp(shift_b + race.jitter * normal(rng)));
        }
        heats.first.push_back(a), heats.second.push_back(b);
    }
    return heats;
}

TEST(PairedRatio, OfTimesWithoutNoiseIsExact) {
    const struct {
        Heats a, b;
        double ratio;
    } table[] = {
        {{{2}}, {{1}}, 2},
        {{{3, 3, 3}}, {{4, 4, 4}}, 0.75},
        {{{10, 20, 30}}, {{5, 10, 15}}, 2},       // pairs by round, whatever the machine does
        {{{2, 2}, {8, 8}}, {{1, 1}, {1, 1}}, 4},  // the geometric mean over heats
        {{{2, 2}}, {{1, 1}, {1, 1}}, 2},          // only heats that both have
        {{{2, 2, 9}}, {{1, 1}}, 2},               // only rounds that both have
    };
    for (const auto &row : table) {
        const RatioInterval r = paired_ratio(row.a, row.b);
        EXPECT_NEAR(r.ratio, row.ratio, 1e-12);
        EXPECT_LE(r.lo, r.ratio);
        EXPECT_GE(r.hi, r.ratio);
    }
}

TEST(PairedRatio, SeesSmallDifferencesThroughTheMachinesNoise) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const auto [a, b] = run({.ratio = 1.02, .heats = 6}, seed);
        const RatioInterval r = paired_ratio(a, b);
        EXPECT_NEAR(r.ratio, 1.02, 0.005) << seed;
        EXPECT_GT(r.lo, 1) << seed;
        EXPECT_TRUE(r.excludes_one());
    }
}

// 400 races of equal kernels: a 99 % interval misses 1 in some four of them, however few heats there are.
TEST(PairedRatio, TheIntervalHoldsTheTruthAsOftenAsItSays) {
    for (const double placement : {0.0, 0.01, 0.02}) {
        for (const int heats : {2, 3, 4, 8, 12}) {
            int missed = 0;
            for (uint64_t seed = 1; seed <= 400; seed++) {
                const auto [a, b] = run({.placement = placement, .heats = heats, .rounds = 10}, seed);
                missed += paired_ratio(a, b).excludes_one();
            }
            EXPECT_LE(missed, 10) << placement << " " << heats;
        }
    }
}

TEST(PairedRatio, OneHeatSaysHowFarRoundsDiffer) {
    const Samples level(20, 100.0),
        uneven = {90, 110, 90, 110, 90, 110, 90, 110, 90, 110, 90, 110, 90, 110, 90, 110, 90, 110, 90, 110};
    EXPECT_TRUE(paired_ratio({Samples(20, 101.0)}, {level}).excludes_one());
    EXPECT_FALSE(paired_ratio({uneven}, {level}).excludes_one());
    EXPECT_FALSE(paired_ratio({{200.0}}, {{100.0}}).excludes_one()) << "one round says nothing";
}

TEST(PairedRatio, HeatsThatDisagreeLeaveItOpen) {
    const Samples slow(40, 105.0), fast(40, 95.0), other(40, 100.0);
    EXPECT_FALSE(paired_ratio({slow, fast}, {other, other}).excludes_one());
    EXPECT_TRUE(paired_ratio({slow, slow}, {other, other}).excludes_one());
}

TEST(RatioInterval, IsLevelWhereAllOfItIsCloseToOne) {
    const struct {
        RatioInterval interval;
        bool level;
    } table[] = {{{1, 0.998, 1.002}, true}, {{1, 0.98, 1.002}, false}, {{1, 0.999, 1.01}, false}, {{1, 1, 1}, true}};
    for (const auto &row : table) EXPECT_EQ(row.interval.is_within(0.005), row.level) << row.interval.lo;
}

}  // namespace
}  // namespace kiln
