// Layers that become worth tuning, or worth nothing, while a job runs.
#include <gtest/gtest.h>

#include "tests/tuner/job/fake_workshop.h"
#include "tests/tuner/job/tuned_layers.h"
#include "tuner/job/tune.h"

namespace kiln {
namespace {

NamedWorkload hoped_for(NamedWorkload layer) {
    layer.odds = 0.25;
    return layer;
}

const NamedWorkload layer_c{"net", "c", 3, convolution({1, 14, 14, 64}, {1, 1, 64, 32})};

std::vector<std::string> names_of(const TuneReport &report) {
    std::vector<std::string> result;
    for (const TunedWorkload &tuned : report.workloads) result.push_back(tuned.workload.name);
    return result;
}

struct Limit {
    const char *what;
    TuneOptions options;
};
std::vector<Limit> limits() {
    TuneOptions by_time = trials(unlimited_trials);
    by_time.time_limit_ns = 300'000'000'000;
    return {{"trials", trials(6)}, {"time", by_time}};
}

TEST(WantedLayers, AreTunedBesideTheFirst) {
    for (const Limit &limit : limits()) {
        FakeWorkshop shop;
        size_t trials_before = 0;
        shop.wanted = [&]() -> Result<std::vector<NamedWorkload>> {
            if (trials_before == 0) trials_before = shop.trials().size();
            return std::vector{layer_a, layer_c};
        };
        const auto report = shop.tune({layer_a, hoped_for(layer_b)}, limit.options);
        ASSERT_TRUE(report.ok()) << limit.what;
        EXPECT_GE(trials_before, 2) << limit.what;
        EXPECT_EQ(names_of(*report), (std::vector<std::string>{"a", "b", "c"})) << limit.what;
        EXPECT_EQ(report->workloads[1].workload.odds, 0) << limit.what;
        EXPECT_GE(report->workloads[2].new_trials, 6) << limit.what;
        EXPECT_EQ(shop.progress.back().workload_count, 3) << limit.what;
    }
}

TEST(WantedLayers, GetNoMoreTrialsWhenTheyAreNotWantedAnyMore) {
    FakeWorkshop shop;
    shop.wanted = [&]() -> Result<std::vector<NamedWorkload>> { return std::vector{layer_a}; };
    TuneOptions options = limits()[1].options;
    options.race_time_ns = 3'000'000'000;
    shop.runner.time_ns = [](const std::string &) { return 1e6; };  // nothing can be told apart
    const auto report = shop.tune({layer_a, hoped_for(layer_b)}, options);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->workloads[1].new_trials, 1);
    EXPECT_TRUE(report->workloads[0].race);
    EXPECT_FALSE(report->workloads[1].race);
}

TEST(WantedLayers, AreAskedForSeldom) {
    for (const Limit &limit : limits()) {
        FakeWorkshop shop;
        std::vector<NamedWorkload> layers{layer_a};
        int64_t askings = 0;
        shop.wanted = [&]() -> Result<std::vector<NamedWorkload>> {
            layers.push_back(layer_c);
            layers.back().workload.input[1] += ++askings;  // another one each time
            return layers;
        };
        const auto report = shop.tune({layer_a}, limit.options);
        ASSERT_TRUE(report.ok()) << limit.what;
        EXPECT_EQ(askings, 4) << limit.what;
        EXPECT_EQ(report->workloads.size(), 5) << limit.what;
    }
}

TEST(WantedLayers, AnErrorEndsTheJob) {
    for (const Limit &limit : limits()) {
        FakeWorkshop shop;
        shop.wanted = [&]() -> Result<std::vector<NamedWorkload>> { return Error{ErrorCode::environment, "gone"}; };
        const auto report = shop.tune({layer_a}, limit.options);
        ASSERT_FALSE(report.ok()) << limit.what;
        EXPECT_EQ(report.error().message, "gone") << limit.what;
        EXPECT_FALSE(shop.trials().empty()) << limit.what;
    }
}

}  // namespace
}  // namespace kiln
