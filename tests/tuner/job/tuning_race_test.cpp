// The race at the end of a workload's tuning: who is in it, what it decides, and when there is none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/tuner/job/fake_workshop.h"
#include "tests/tuner/job/tuned_layers.h"
#include "tuner/job/tune.h"

namespace kiln {
namespace {

TuneOptions with_races(int64_t n) {
    TuneOptions options = trials(n);
    options.race_time_ns = 3'000'000'000;
    return options;
}

// Each kernel a little slower than the one before, and larger.
struct RacingWorkshop : FakeWorkshop {
    RacingWorkshop() {
        timestamp = [this] { return fmt::format("2026-01-01T00:00:{:02}.000Z", seconds_++); };  // later races are later
        runner.time_ns = [this](const std::string &hash) {
            const auto found = times.find(hash);
            if (found != times.end()) return found->second;
            return times[hash] = 1e6 * (1 + 0.01 * static_cast<double>(times.size()));
        };
    }
    std::map<std::string, double> times;

private:
    int seconds_ = 0;
};

TEST(TuningRace, TheRacesWinnerIsTheBest) {
    RacingWorkshop shop;
    const auto report = shop.tune({layer_a}, with_races(6));
    ASSERT_TRUE(report.ok());
    const auto races = *shop.store.races({});
    ASSERT_EQ(races.size(), 1u);
    const Race &race = races[0];
    EXPECT_EQ(race.entries.size(), 4u);
    EXPECT_EQ(race.workload, key(layer_a.workload));
    EXPECT_EQ(race.confidence, 0.99);
    for (size_t i = 1; i < race.entries.size(); i++) EXPECT_GT(race.entries[i].ratio_lo, 1);
    const auto best = *shop.store.best({});
    EXPECT_EQ(best->evidence, "race");
    EXPECT_EQ(best->trial.id, race.entries[0].trial);
    EXPECT_EQ(report->workloads[0].best_candidate, best->trial.candidate);
    EXPECT_EQ(report->workloads[0].race, (RaceSummary{4, 0}));
    // Three heats, each in an order of its own, and the artifacts as they were built: nothing is built again.
    ASSERT_EQ(shop.runner.heats.size(), 3u);
    EXPECT_NE(shop.runner.heats[0].seed, shop.runner.heats[1].seed);
    EXPECT_EQ(shop.runner.heats[0].workspace_bytes, 64);
    EXPECT_EQ(shop.builder.candidates.size(), 6u);
}

// Nothing is left to do, and medians say otherwise: what the last race decided is the answer, as `best` has it.
TEST(TuningRace, ARerunSaysWhatTheLastRaceDecided) {
    RacingWorkshop shop;
    ASSERT_TRUE(shop.tune({layer_a}, with_races(6)).ok());
    Race race = (*shop.store.races({})).front();
    race.id.clear();
    race.created_at = "2026-02-01T00:00:00.000Z";
    std::swap(race.entries[0].trial, race.entries[1].trial);
    ASSERT_TRUE(shop.store.append(race).ok());
    const auto report = shop.tune({layer_a}, with_races(6));
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(shop.store.races({})->size(), 2u);
    const auto best = *shop.store.best({});
    EXPECT_EQ(best->trial.id, race.entries[0].trial);
    EXPECT_EQ(report->workloads[0].best_candidate, best->trial.candidate);
    EXPECT_EQ(report->workloads[0].best_ns, best->measurement.median);
}

// A neighbour was at work while the first kernel was measured: most of its samples, and so their median, are of that.
TEST(TuningRace, ANoisyMedianDoesNotKeepTheFastestFromTheRace) {
    RacingWorkshop shop;
    std::string noisy;
    shop.runner.samples = [&](const std::string &hash, double ns) {
        if (noisy.empty()) noisy = hash;
        return hash == noisy ? Samples{ns, ns, ns, 3 * ns, 3 * ns, 3 * ns, 3 * ns, 3 * ns} : Samples{ns, ns, ns};
    };
    ASSERT_TRUE(shop.tune({layer_a}, with_races(6)).ok());
    const auto best = *shop.store.best({});
    EXPECT_EQ(best->trial.object_hash, noisy);
    EXPECT_EQ(best->evidence, "race");
    EXPECT_EQ((*shop.store.measurement_of(best->trial.id))->median, 3e6) << "what was measured is not touched";
}

// The default was measured in a lucky moment: its median is below that of the kernel which beat it in the race.
TEST(TuningRace, TheDefaultIsComparedAsInTheRace) {
    RacingWorkshop shop;
    std::string lucky;
    shop.runner.samples = [&](const std::string &hash, double ns) {
        if (lucky.empty()) lucky = hash, shop.times[hash] = 1.04e6;
        return hash == lucky ? Samples{0.98e6, 0.98e6, 0.98e6} : Samples{ns, ns, ns};
    };
    const auto report = shop.tune({layer_a}, with_races(6));
    ASSERT_TRUE(report.ok());
    const TunedWorkload &tuned = report->workloads[0];
    ASSERT_NE((*shop.store.best({}))->trial.object_hash, lucky);
    EXPECT_NEAR(*tuned.default_ns / *tuned.best_ns, 1.04 / 1.01, 1e-3);
}

TEST(TuningRace, ARaceIsNotRunAgainUntilSomethingNewIsInIt) {
    RacingWorkshop shop;
    ASSERT_TRUE(shop.tune({layer_a}, with_races(6)).ok());
    ASSERT_TRUE(shop.tune({layer_a}, with_races(6)).ok());
    EXPECT_EQ(shop.store.races({})->size(), 1u);
    EXPECT_EQ(shop.builder.candidates.size(), 6u);
    shop.runner.time_ns = [&](const std::string &hash) { return shop.times.contains(hash) ? shop.times[hash] : 0.9e6; };
    ASSERT_TRUE(shop.tune({layer_a}, with_races(7)).ok());
    EXPECT_EQ(shop.store.races({})->size(), 2u);
    EXPECT_EQ((*shop.store.best({}))->measurement.median, 0.9e6);
}

// Times by algorithm. Those of one lie so close that they race.
struct RacingAlgorithms : FakeWorkshop {
    RacingAlgorithms() {
        timestamp = [this] { return fmt::format("2026-01-01T00:00:{:02}.000Z", seconds_++); };
        builder.hash = [](const std::string &text) { return text; };
        runner.time_ns = [this](const std::string &text) {
            const auto found = std::find_if(times.begin(), times.end(),
                                            [&](const auto &t) { return text.starts_with(t.first + "@"); });
            if (found == times.end()) return 9e6;
            return found->second * (1 + 1e-4 * static_cast<double>(std::hash<std::string>()(text) % 50));
        };
    }

    // Answers the algorithm of what the job calls its best.
    std::string tune_only(const std::string &algorithm, int64_t n = 4) {
        TuneOptions options = with_races(n);
        options.algorithm = algorithm;
        const auto report = tune({layer}, options);
        EXPECT_TRUE(report.ok());
        return parse_candidate(report->workloads[0].best_candidate)->algorithm;
    }
    std::string best() { return parse_candidate((*store.best({}))->trial.candidate)->algorithm; }

    NamedWorkload layer = layer_b;
    std::map<std::string, double> times;

private:
    int seconds_ = 0;
};

TEST(TuningRace, OfOneAlgorithmDoesNotHideAFasterOneOfAnother) {
    RacingAlgorithms shop;
    shop.times = {{"direct", 1e6}, {"winograd_2", 2e6}};
    EXPECT_EQ(shop.tune_only("direct"), "direct");
    EXPECT_EQ(shop.tune_only("winograd_2"), "winograd_2") << "the best of what was asked for";
    EXPECT_EQ(shop.best(), "direct");
    EXPECT_EQ(shop.store.races({})->size(), 1u) << "known to lose";
}

TEST(TuningRace, TheBestSoFarRacesThoughItWasNotAskedFor) {
    RacingAlgorithms shop;
    shop.times = {{"direct", 1e6}, {"winograd_2", 1.03e6}};
    EXPECT_EQ(shop.tune_only("direct"), "direct");
    const std::string direct = (*shop.store.best({}))->trial.id;
    EXPECT_EQ(shop.tune_only("winograd_2"), "winograd_2");
    EXPECT_EQ((*shop.store.best({}))->trial.id, direct);
    const auto races = *shop.store.races({});
    ASSERT_EQ(races.size(), 2u);
    EXPECT_EQ(races[1].entries.front().trial, direct);
    EXPECT_EQ(shop.tune_only("winograd_2"), "winograd_2");
    EXPECT_EQ(shop.store.races({})->size(), 2u) << "nothing new is in it";
}

TEST(TuningRace, AWinnerOfBeforeLosesItsPlaceInARaceToOneThatIsAlone) {
    RacingAlgorithms shop;
    shop.times = {{"winograd_2", 2e6}, {"direct", 1e6}};
    EXPECT_EQ(shop.tune_only("winograd_2"), "winograd_2");
    EXPECT_EQ(shop.best(), "winograd_2");
    EXPECT_EQ(shop.tune_only("direct", 1), "direct");
    EXPECT_EQ(shop.best(), "direct");
    EXPECT_EQ(shop.store.races({})->back().entries.size(), 2u);
}

// Part of what a prepared kernel needs is done by its caller, and not timed.
TEST(TuningRace, APreparedKernelThatWasNotAskedForStandsInNobodysWay) {
    for (const double prepared_ns : {0.5e6, 3e6}) {
        RacingAlgorithms shop;
        shop.layer.workload = *parse_workload_key("conv2d/input:1x32x32x3/kernel:7x7x3x16/strides:2x2");
        shop.times = {{"space_to_depth_prepared", prepared_ns}, {"direct", 1e6}};
        EXPECT_EQ(shop.tune_only("space_to_depth_prepared"), "space_to_depth_prepared");
        EXPECT_EQ(shop.best(), "space_to_depth_prepared");
        // One that lost to it: there is nobody else to race.
        EXPECT_EQ(shop.tune_only("direct", prepared_ns > 1e6 ? 1 : 4), "direct");
        EXPECT_EQ(shop.best(), "direct");
    }
}

TEST(TuningRace, TiesGoToTheDefaultAndAreKept) {
    FakeWorkshop shop;
    shop.runner.time_ns = [](const std::string &) { return 1e6; };
    const auto report = shop.tune({layer_a}, with_races(4));
    ASSERT_TRUE(report.ok());
    const auto races = *shop.store.races({});
    ASSERT_EQ(races.size(), 1u);
    for (const RaceEntry &entry : races[0].entries) EXPECT_LE(entry.ratio_lo, 1);
    EXPECT_EQ((*shop.store.best({}))->trial.origin, "default");
    EXPECT_EQ(report->workloads[0].race->ties, races[0].entries.size() - 1);
}

TEST(TuningRace, AHeatThatFailsThroughNoKernelsFaultIsNoRaceAndIsTold) {
    RacingWorkshop shop;
    shop.runner.heat_fails = true;
    const auto report = shop.tune({layer_a}, with_races(6));
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(shop.store.races({})->empty());
    EXPECT_EQ(shop.trials().size(), 6u);
    const TunedWorkload &tuned = report->workloads[0];
    EXPECT_TRUE(tuned.best_ns);
    EXPECT_EQ(tuned.failures, 0);
    EXPECT_EQ(tuned.race, (RaceSummary{0,
                                       0,
                                       {"there was no race: a heat failed (made to fail), though each of its "
                                        "kernels is right alone"}}));
}

// Right in its trial, wrong in the race: chance decides whether such a kernel is right.
TEST(TuningRace, AKernelThatFailsInTheRaceIsRecordedAndLeaves) {
    RacingWorkshop shop;
    std::string first;  // the fastest
    shop.runner.breaks = [&](const std::string &hash) { return hash == first; };
    const auto time_ns = shop.runner.time_ns;
    shop.runner.time_ns = [&, time_ns](const std::string &hash) {
        if (first.empty()) first = hash;
        return time_ns(hash);
    };
    const auto report = shop.tune({layer_a}, with_races(6));
    ASSERT_TRUE(report.ok());
    const std::vector<Trial> trials = shop.trials();
    ASSERT_EQ(trials.size(), 7u);
    EXPECT_EQ(trials.back().status, TrialStatus::wrong_result);
    EXPECT_EQ(trials.back().object_hash, first);
    const auto races = *shop.store.races({});
    ASSERT_EQ(races.size(), 1u);
    EXPECT_EQ(races[0].entries.size(), 4u) << "the next four";
    for (const RaceEntry &entry : races[0].entries)
        EXPECT_NE(shop.store.trial(entry.trial).value()->object_hash, first);
    const TunedWorkload &tuned = report->workloads[0];
    EXPECT_NE(tuned.best_candidate, trials.back().candidate);
    EXPECT_EQ(tuned.failures, 1);
    ASSERT_EQ(tuned.race->notes.size(), 1u);
    EXPECT_NE(tuned.race->notes[0].find("failed when it ran again, and is out: wrong_result, made to fail"),
              std::string::npos)
        << tuned.race->notes[0];
    // A later job does not take it up again.
    shop.tune({layer_a}, with_races(8)).value();
    EXPECT_NE((*shop.store.best({}))->trial.object_hash, first);
    const auto later = *shop.store.races({});
    for (const Race &race : later) {
        for (const RaceEntry &entry : race.entries) {
            EXPECT_NE(shop.store.trial(entry.trial).value()->object_hash, first);
        }
    }
}

TEST(TuningRace, WhereEveryKernelFailsInTheRaceThereIsNoBest) {
    RacingWorkshop shop;
    shop.runner.breaks = [](const std::string &) { return true; };
    const auto report = shop.tune({layer_a}, with_races(4));
    ASSERT_TRUE(report.ok());
    const TunedWorkload &tuned = report->workloads[0];
    EXPECT_FALSE(tuned.best_ns);
    EXPECT_EQ(tuned.failures, 4);
    EXPECT_NE(tuned.problem.find("none of 4 trials is valid"), std::string::npos) << tuned.problem;
    EXPECT_FALSE(shop.store.best({})->has_value());
}

TEST(TuningRace, AKernelThatIsBuiltDifferentlyNowDoesNotRace) {
    RacingWorkshop shop;
    TuneOptions options = with_races(6);
    options.race_time_ns = 0;
    ASSERT_TRUE(shop.tune({layer_a}, options).ok());
    shop.builder.hash = [](const std::string &text) { return "other " + text; };
    ASSERT_TRUE(shop.tune({layer_a}, with_races(6)).ok());
    EXPECT_TRUE(shop.store.races({})->empty());
}

}  // namespace
}  // namespace kiln
