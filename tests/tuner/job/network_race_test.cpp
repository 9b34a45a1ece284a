#include "tuner/job/racing/network_race.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "database/trial_store.h"
#include "records/race_conditions.h"
#include "tests/tuner/job/fake_workshop.h"
#include "tests/tuner/job/valid_trials.h"

namespace kiln {
namespace {

NetworkKernel kernel(size_t version, const std::string &name, bool is_default = false) {
    NetworkKernel k{version, Candidate{.algorithm = name}, {}, is_default};
    k.trial.id = name;
    k.trial.object_hash = "object of " + name;
    k.trial.object_bytes = 1000;
    return k;
}

// A network of six steps: one layer has two of them. Times are those of the kernel that a version has, in ns.
class NetworkRaceTest : public testing::Test {
protected:
    NetworkRaceTest() {
        layers_ = {{convolution({1, 8, 8, 16}, {1, 1, 16, 16}), {1, 4}, {kernel(0, "a0"), kernel(1, "a1", true)}},
                   {convolution({1, 8, 8, 16}, {3, 3, 16, 16}), {2}, {kernel(0, "b0", true), kernel(2, "b2")}}};
        times_ = {{"a0", 2000}, {"a1", 1000}, {"b0", 3000}, {"b2", 3500}};
        time_ = {[&] { return clock_.ns; }, [&] { return is_interrupted_; }, {}, {}};
    }

    Result<Attempt<NetworkRunReport>> run(size_t version) {
        runs_.push_back(version);
        clock_.ns += 1'000'000'000;
        if (failing_.contains(version)) return Attempt<NetworkRunReport>{failure(TrialStatus::crash), 0};
        NetworkRunReport report;
        report.conditions = R"({"load":1})";
        report.steps.assign(6, Samples(5, 100));
        for (const NetworkLayer &layer : layers_) {
            // Its steps take different times, of which the mean counts.
            double part = layer.steps.size() == 2 ? 0.5 : 1;
            for (const size_t step : layer.steps) {
                for (size_t call = 0; call < 5; call++) {
                    const double noise = std::uniform_real_distribution<double>(1, 1.01)(random_);
                    report.steps[step][call] = part * noise * times_.at(kernel_of(layer, version).trial.id);
                }
                part = 1.5;
            }
        }
        return Attempt<NetworkRunReport>{std::move(report), 0};
    }

    Result<NetworkRaceResult> race() {
        return race_in_network(
            layers_, [&](size_t version) { return run(version); }, time_);
    }

    std::vector<std::string> winners(const NetworkRaceResult &result) {
        std::vector<std::string> names;
        for (size_t l = 0; l < result.layers.size(); l++) names.push_back(result.winner(l).trial.id);
        return names;
    }

    FakeClock clock_;
    bool is_interrupted_ = false;
    std::vector<NetworkLayer> layers_;
    std::map<std::string, double> times_;
    std::set<size_t> failing_;
    std::vector<size_t> runs_;
    std::mt19937 random_{1};
    NetworkRaceTime time_;
};

TEST_F(NetworkRaceTest, EachLayerHasAWinner) {
    const Result<NetworkRaceResult> result = race();
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_TRUE(result->is_decided()) << result->problem;
    EXPECT_EQ(winners(*result), (std::vector<std::string>{"a1", "b0"}));
    EXPECT_NEAR(result->places[0][1].to_winner.ratio, 2, 0.02);
    EXPECT_NEAR(result->entrants[0][1].heats.front().front(), 1000, 15) << "the mean of both steps";
    // A loser by far leaves after the first heat. The other is out once three heats have shown what they show.
    EXPECT_EQ(std::ranges::count(runs_, 2u), 3);
    EXPECT_EQ(std::vector<size_t>(runs_.begin(), runs_.begin() + 3), (std::vector<size_t>{0, 1, 2}));
    EXPECT_EQ(result->versions[0].heats.front().size(), 5u);
    EXPECT_NEAR(result->versions[0].heats.front().front(), 3 * 100 + 2 * 2000 + 3000, 100);
}

TEST_F(NetworkRaceTest, WhoeverTiesLosesToTheDefault) {
    times_["a0"] = 1000;
    const Result<NetworkRaceResult> result = race();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(winners(*result)[0], "a1");
    EXPECT_LE(runs_.size(), 8u * 3);
}

TEST_F(NetworkRaceTest, AVersionThatFailsIsOut) {
    failing_ = {1};
    Result<NetworkRaceResult> result = race();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(winners(*result), (std::vector<std::string>{"a0", "b0"}));
    EXPECT_EQ(std::ranges::count(runs_, 1u), 1);
    EXPECT_EQ(races_of(*result, "net", "").size(), 1u) << "one that nobody raced against is no race";
    failing_ = {0};
    result = race();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_FALSE(result->is_decided());
    EXPECT_EQ(result->problem, "crash: made to fail");
}

TEST_F(NetworkRaceTest, EndsWithItsTime) {
    times_["b2"] = 3020;
    for (const auto &[seconds, is_decided] : {std::pair<int64_t, bool>{4, false}, {9, true}, {12, true}}) {
        clock_.ns = 0, runs_.clear();
        time_.end_ns = seconds * 1'000'000'000;
        const Result<NetworkRaceResult> result = race();
        ASSERT_TRUE(result) << result.error().message;
        EXPECT_EQ(result->is_decided(), is_decided) << seconds;
        EXPECT_LE(clock_.ns, *time_.end_ns);
    }
    is_interrupted_ = true;
    const Result<NetworkRaceResult> result = race();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::interrupted);
}

TEST_F(NetworkRaceTest, VersionsAreComparedByWholeCalls) {
    const RunVersion run_one = [&](size_t version) { return run(version); };
    auto calls = compare_versions({0, 1}, run_one, time_);
    ASSERT_TRUE(calls) << calls.error().message;
    ASSERT_TRUE(*calls);
    EXPECT_EQ(runs_, (std::vector<size_t>{0, 1, 1, 0, 0, 1}));
    EXPECT_NEAR(call_ratio((**calls)[1], (**calls)[0]), 5300.0 / 7300, 0.01);
    failing_ = {1};
    calls = compare_versions({0, 1}, run_one, time_);
    ASSERT_TRUE(calls) << calls.error().message;
    EXPECT_FALSE(*calls);
}

TEST_F(NetworkRaceTest, BuildsOfTheKernelsInUseAreCounted) {
    EXPECT_EQ(build_ns(layers_), 0) << "their trials do not tell";
    layers_[0].kernels[0].trial.build_ns = 3, layers_[1].kernels[0].trial.build_ns = 4;
    layers_[0].kernels[1].trial.build_ns = 100;
    EXPECT_EQ(build_ns(layers_), 7);
}

TEST_F(NetworkRaceTest, AVersionIsLeftOutWithItsKernels) {
    EXPECT_EQ(version_count(layers_), 3u);
    EXPECT_EQ(kernel_of(layers_[0], 2).trial.id, "a0") << "has none of its own";
    leave_out_version(2, &layers_);
    ASSERT_EQ(layers_.size(), 1u);
    EXPECT_EQ(version_count(layers_), 2u);
    EXPECT_EQ(version_count({}), 0u);
}

TEST_F(NetworkRaceTest, ItsRacesChooseTheBest) {
    Result<TrialStore> store = TrialStore::in_memory();
    ASSERT_TRUE(store);
    for (NetworkLayer &layer : layers_) {
        for (NetworkKernel &k : layer.kernels) {
            k.trial = valid_trial({.workload = key(layer.workload),
                                   .target = "x86-64-linux",
                                   .threads = 1,
                                   .machine = "fake",
                                   .toolchain = "test 1",
                                   .candidate = k.candidate.algorithm + "@1/cpu_tile@2",
                                   .error_budget = 1e-5,
                                   .object_hash = "object of " + k.candidate.algorithm,
                                   .cache = CacheMode::cold});
            // Alone, the first of each layer is the fastest.
            Result<std::string> id = append_valid(*store, k.trial, 1000 + 100 * double(k.version));
            ASSERT_TRUE(id) << id.error().message;
            times_[*id] = times_.at(k.candidate.algorithm);
            k.trial.id = *id;
        }
    }
    const Result<NetworkRaceResult> result = race();
    ASSERT_TRUE(result) << result.error().message;
    const std::vector<Race> races = races_of(*result, "net", "2026-02-01T12:00:00.123Z");
    ASSERT_EQ(races.size(), 2u);
    for (const Race &race : races) {
        const Result<std::string> id = store->append(race);
        ASSERT_TRUE(id) << id.error().message;
        EXPECT_EQ(raced_network(race.conditions), "net");
    }
    for (const auto &[layer, winner] : {std::pair<size_t, std::string>{0, "a1"}, {1, "b0"}}) {
        const auto best = store->best({.workload = key(layers_[layer].workload)});
        ASSERT_TRUE(best && *best);
        EXPECT_EQ((*best)->trial.object_hash, "object of " + winner);
        EXPECT_EQ((*best)->evidence, "race");
    }
    EXPECT_TRUE(store->verify().ok());
}

}  // namespace
}  // namespace kiln
