#include "tuner/protocol/halving.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kiln {
namespace {

TEST(HalvingCutoffs, TightenRungByRung) {
    const struct {
        const char *what;
        std::vector<double> medians, cutoffs;
    } table[] = {
        {"nothing known", {}, {}},
        {"the probe is against the best", {100, 500}, {200}},
        {"too few for a half", {100, 110, 120, 130, 140, 150, 160}, {200}},
        {"half, then a quarter", {100, 110, 120, 130, 140, 150, 160, 170}, {200, 140, 120}},
        {"never below what is close to the best", {100, 100, 100, 100, 100, 100, 100, 100}, {200, 110, 110}},
        {"never above the rung before", {100, 900, 900, 900, 900, 900, 900, 900}, {200, 200, 200}},
        {"in any order", {170, 100, 160, 110, 150, 120, 140, 130}, {200, 140, 120}},
    };
    for (const auto &row : table) {
        const std::vector<double> cutoffs = halving_cutoffs(row.medians);
        ASSERT_EQ(cutoffs.size(), row.cutoffs.size()) << row.what;
        for (size_t i = 0; i < cutoffs.size(); i++) EXPECT_NEAR(cutoffs[i], row.cutoffs[i], 1e-9) << row.what;
    }
}

TEST(IsCutOff, AtTheRungThatIsReached) {
    const double ms = 1e6;
    const std::vector<double> cutoffs{20 * ms, 14 * ms, 12 * ms};
    const struct {
        const char *what;
        Samples samples;
        bool cut_off;
    } table[] = {
        {"nothing taken", {}, false},
        {"not enough samples", {30 * ms, 30 * ms}, false},
        {"the probe", {30 * ms, 30 * ms, 30 * ms}, true},
        {"the probe passes", {19 * ms, 19 * ms, 19 * ms}, false},
        {"one lucky sample passes it", {30 * ms, 19 * ms, 30 * ms}, false},
        {"the second rung", Samples(6, 15 * ms), true},
        {"before the second rung", Samples(5, 15 * ms), false},
        {"the third rung", Samples(12, 13 * ms), true},
        {"fast enough", Samples(50, 11 * ms), false},
        {"short calls need more of them", Samples(5, 50e3), false},
    };
    for (const auto &row : table) EXPECT_EQ(is_cut_off(row.samples, cutoffs), row.cut_off) << row.what;
    EXPECT_FALSE(is_cut_off(Samples(50, 1e9), {})) << "without cutoffs";
    EXPECT_TRUE(is_cut_off(Samples(100, 50e3), {20e3})) << "many short calls";
}

// A neighbour makes calls slower: a fast kernel must survive it.
TEST(IsCutOff, ABusyMomentDoesNotEndAFastKernel) {
    for (uint64_t seed = 1; seed <= 200; seed++) {
        std::mt19937_64 rng(seed);
        std::uniform_real_distribution<double> uniform(0, 1);
        Samples samples;
        for (int i = 0; i < 40; i++) {
            samples.push_back(1e6 * (uniform(rng) < 0.4 ? 1 + 2 * uniform(rng) : 1 + 0.01 * uniform(rng)));
            EXPECT_FALSE(is_cut_off(samples, {2e6, 1.5e6, 1.1e6})) << seed << " " << i;
        }
    }
}

}  // namespace
}  // namespace kiln
