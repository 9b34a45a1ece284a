// Tuning a layer whose data lies in memory that a neighbour uses, too: who comes and goes as a schedule says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "records/memory_state.h"
#include "records/race_conditions.h"
#include "tests/tuner/job/fake_workshop.h"
#include "tests/tuner/job/tuned_layers.h"
#include "tuner/job/tune.h"

namespace kiln {
namespace {

const NamedWorkload large{"net", "large", 1, *parse_workload_key("conv2d/input:1x128x128x64/kernel:1x1x64x64")};

// Kernels take twice as long while the neighbour is there, unless it says otherwise. The k-th kernel that is measured takes
// quiet_ns(k).
struct SharedMachine : FakeWorkshop {
    SharedMachine() {
        timestamp = [this] {
            return fmt::format("2026-01-01T{:02}:{:02}:{:02}.{:03}Z", clock.ns / 3'600'000'000'000,
                               clock.ns / 60'000'000'000 % 60, clock.ns / 1'000'000'000 % 60, ticks_++ % 1000);
        };
        runner.time_ns = [this](const std::string &hash) {
            const auto [found, is_new] = kernels.try_emplace(hash, kernels.size());
            return quiet_ns(found->second) * (is_busy() ? slower : 1);
        };
        runner.conditions = [this] {
            if (!has_sentinel) return std::string("{}");
            return std::string(is_busy() ? R"({"memory_gb_s":{"l3":[20,21],"dram":[15,15]}})"
                                         : R"({"memory_gb_s":{"l3":[70,69],"dram":[35,36]}})");
        };
    }

    bool is_busy() { return busy(clock.ns / 1'000'000'000); }
    size_t kernel_of(const std::string &trial) { return kernels.at((*store.trial(trial))->object_hash); }
    size_t winner() { return kernels.at((*store.best({}))->trial.object_hash); }

    Result<TuneReport> tune_large(int64_t n, uint64_t seed = 1) {
        TuneOptions options = kiln::trials(n);
        options.race_time_ns = 3'000'000'000;
        options.seed = seed;
        return tune({large}, options);
    }

    std::function<bool(int64_t second)> busy = [](int64_t) { return false; };
    std::function<double(size_t kernel)> quiet_ns = [](size_t k) { return 1e6 * (1 + 0.04 * double(k)); };
    double slower = 2;
    bool has_sentinel = true;
    std::map<std::string, size_t> kernels;

private:
    int ticks_ = 0;
};

// The first trial was measured in the one minute in which the last cache was free; in all others it takes three times as
// long. The second one is the fastest in every other minute.
struct LuckyMinute : SharedMachine {
    explicit LuckyMinute(bool sentinel_sees_it) {
        has_sentinel = sentinel_sees_it;
        busy = [](int64_t second) { return second > 2; };
        quiet_ns = [](size_t k) {
            constexpr double ns[] = {645e3, 410e3, 610e3, 640e3, 660e3, 700e3};
            return ns[std::min<size_t>(k, 5)];
        };
        slower = 3.2847;
    }
};

TEST(SharedMemory, OneLuckyMinuteDoesNotWin) {
    for (const bool seen : {true, false}) {
        LuckyMinute shop(seen);
        const auto report = shop.tune_large(6);
        ASSERT_TRUE(report.ok()) << report.error().message;
        const auto best = *shop.store.best({});
        EXPECT_EQ(shop.winner(), 1u) << seen;
        EXPECT_EQ(best->evidence, "race");
        EXPECT_NEAR(best->measurement.median, 1347e3, 1e3);
        EXPECT_EQ(report->workloads[0].best_ns, best->measurement.median);
        EXPECT_NEAR(report->workloads[0].default_ns.value_or(0), 2118e3, 1e3) << "beside the winner's";
        // The time of the lucky minute is replaced, its trial stays.
        const auto all = shop.trials();
        ASSERT_EQ(all.size(), 7u);
        EXPECT_EQ((*shop.store.measurement_of(all[0].id))->median, 645e3);
        EXPECT_EQ(all[6].candidate, all[0].candidate);
        EXPECT_NEAR((*shop.store.measurement_of(all[6].id))->median, 2118e3, 1e3);
        const auto &notes = report->workloads[0].race->notes;
        ASSERT_EQ(notes.size(), 1u);
        EXPECT_EQ(notes[0].find("a loser's time of 645.0 us did not hold, a fresh process takes 2118.6 us"), 0u)
            << notes[0];
        EXPECT_EQ(notes[0].find("L3 69.5 GB/s") != std::string::npos, seen) << notes[0];
    }
}

TEST(SharedMemory, ARerunRacesNothingAgainAndKnowsTheLaterTimes) {
    LuckyMinute shop(true);
    ASSERT_TRUE(shop.tune_large(6).ok());
    const size_t races = shop.store.races({})->size(), heats = shop.runner.heats.size(), runs = shop.runner.runs;
    const auto rerun = shop.tune_large(6);
    ASSERT_TRUE(rerun.ok());
    EXPECT_EQ(shop.store.races({})->size(), races);
    EXPECT_EQ(shop.runner.heats.size(), heats);
    EXPECT_EQ(shop.runner.runs, runs);
    EXPECT_EQ(rerun->workloads[0].trials, 6) << "a time that was replaced is no trial more";
    ASSERT_TRUE(shop.tune_large(7).ok());
    EXPECT_EQ(shop.winner(), 1u);
    EXPECT_EQ(shop.store.races({})->size(), races + 1) << "somebody new";
}

TEST(SharedMemory, TheFastestWinsWhateverTheMinutesWere) {
    const struct {
        const char *what;
        std::function<bool(int64_t)> busy;
    } table[] = {
        {"quiet", [](int64_t) { return false; }},
        {"busy", [](int64_t) { return true; }},
        {"quiet first", [](int64_t second) { return second > 10; }},
        {"busy first", [](int64_t second) { return second < 20; }},
        {"quiet for the race alone", [](int64_t second) { return second < 40; }},
        {"busy for the race alone", [](int64_t second) { return second > 39; }},
        {"every other trial", [](int64_t second) { return second % 4 < 2; }},
        {"now and then", [](int64_t second) { return second * 2654435761 % 97 < 40; }},
    };
    for (const auto &row : table) {
        for (const bool sentinel : {true, false}) {
            for (const size_t fastest : {0u, 7u, 19u}) {
                SharedMachine shop;
                shop.busy = row.busy;
                shop.has_sentinel = sentinel;
                // Kernels in between are nearly as fast, so that a state of memory decides between them where it can.
                shop.quiet_ns = [&](size_t k) { return k == fastest ? 0.8e6 : 1e6 + 2e4 * double(k * 7 % 20); };
                const auto report = shop.tune_large(20);
                ASSERT_TRUE(report.ok());
                const auto best = *shop.store.best({});
                // Without a sentinel nobody can tell a slow kernel from a busy minute.
                if (sentinel) {
                    EXPECT_EQ(shop.winner(), fastest) << row.what;
                }
                EXPECT_EQ(best->evidence, "race") << row.what;
                // What is recorded of the winner was true in one of the two states.
                const double ns = best->measurement.median / shop.quiet_ns(shop.winner());
                EXPECT_TRUE(std::abs(ns - 1) < 0.01 || std::abs(ns - 2) < 0.01) << row.what << ": " << ns;
            }
        }
    }
}

TEST(SharedMemory, EndsInBoundedTimeWhereNoTimeHolds) {
    SharedMachine shop;
    size_t calls = 0;
    // Each process finds the machine in another state.
    shop.runner.samples = [&](const std::string &, double ns) {
        const double now = ns * (1 + 0.5 * double(++calls * 7 % 5));
        return Samples{now, now, now};
    };
    const auto report = shop.tune_large(12);
    ASSERT_TRUE(report.ok());
    EXPECT_LE(shop.store.races({})->size(), 3u);
    EXPECT_LE(shop.runner.measured, 12u + 3 * (1 + 3) * 3);
    EXPECT_LE(shop.runner.heats.size(), 3 * (3 + 12u));
    ASSERT_TRUE(report->workloads[0].race);
    EXPECT_FALSE(report->workloads[0].race->notes.empty());
    EXPECT_EQ((*shop.store.best({}))->evidence, "race");
    EXPECT_TRUE(shop.store.verify().ok());
}

TEST(SharedMemory, WithoutTimeForItATimeIsNotConfirmedAndItIsSaid) {
    SharedMachine shop;
    TuneOptions options = trials(unlimited_trials);
    options.time_limit_ns = 60'000'000'000;
    options.race_time_ns = 400'000'000;
    const auto report = shop.tune({large}, options);
    ASSERT_TRUE(report.ok());
    ASSERT_TRUE(report->workloads[0].race);
    EXPECT_EQ(report->workloads[0].race->notes,
              std::vector<std::string>{"its time was not confirmed: there was no time left"});
}

TEST(SharedMemory, WithoutALimitOfTimeEveryWinnerIsConfirmed) {
    SharedMachine shop;
    const auto state = shop.runner.conditions;
    shop.runner.conditions = [&] {  // a heat takes longer than all that a race is given
        if (!shop.runner.heats.empty()) shop.clock.ns += 1'000'000'000;
        return state();
    };
    TuneOptions options = trials(6);
    options.race_time_ns = 400'000'000;
    const auto report = shop.tune({large}, options);
    ASSERT_TRUE(report.ok());
    ASSERT_TRUE(report->workloads[0].race);
    EXPECT_EQ(report->workloads[0].race->notes, std::vector<std::string>());
    EXPECT_EQ(shop.runner.measured, 7u);
}

// Right in its trial, wrong in the process that was to confirm its time.
TEST(SharedMemory, AWinnerThatFailsWhereItsTimeIsConfirmedDoesNotWin) {
    SharedMachine shop;
    shop.runner.refuses = [](size_t run) { return run == 7 ? std::optional(TrialStatus::wrong_result) : std::nullopt; };
    const auto report = shop.tune_large(6);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(shop.winner(), 1u);
    EXPECT_EQ((*shop.store.best({}))->evidence, "race");
    const auto all = shop.trials();
    ASSERT_EQ(all.size(), 7u);
    EXPECT_EQ(all[6].status, TrialStatus::wrong_result);
    EXPECT_EQ(all[6].candidate, all[0].candidate);
    const TunedWorkload &tuned = report->workloads[0];
    EXPECT_EQ(tuned.best_candidate, all[1].candidate);
    EXPECT_EQ(tuned.failures, 1);
    ASSERT_EQ(tuned.race->notes.size(), 1u);
    EXPECT_NE(tuned.race->notes[0].find("failed when it ran again, and is out: wrong_result"), std::string::npos);
}

// Somebody else holds the machine, for ever.
TEST(SharedMemory, AConfirmationDoesNotWaitBeyondTheJobsTime) {
    SharedMachine shop;
    TuneOptions options = trials(6);
    options.time_limit_ns = 600'000'000'000;
    options.race_time_ns = 3'000'000'000;
    shop.runner.waits_ns = [](size_t run) { return run > 6 ? int64_t(1) << 60 : 0; };
    const auto report = shop.tune({large}, options);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_FALSE(report->interrupted);
    EXPECT_EQ((*shop.store.best({}))->evidence, "race");
    ASSERT_TRUE(report->workloads[0].race);
    EXPECT_EQ(report->workloads[0].race->notes.front(), "its time was not confirmed: there was no time left");
    EXPECT_LT(shop.clock.ns, 600'000'000'000);
}

TEST(SharedMemory, ALayerThatStaysInTheCoresOwnCachesIsRacedAsEver) {
    SharedMachine shop;
    TuneOptions options = trials(6);
    options.race_time_ns = 3'000'000'000;
    const auto report = shop.tune({layer_a}, options);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(shop.runner.measured, 6u);
    EXPECT_TRUE(qualified_trials(shop.store.races({})->front().conditions).empty());
}

TEST(SharedMemory, CutoffsComeFromALikeStateOnly) {
    SharedMachine shop;
    shop.busy = [](int64_t second) { return second > 4; };
    ASSERT_TRUE(shop.tune_large(5).ok());
    ASSERT_GE(shop.runner.cutoffs.size(), 5u);
    // The first two were measured alone, then the neighbour came: only the first of its time still meets their cutoff.
    EXPECT_NEAR(shop.runner.cutoffs[2].at(0), 2e6, 1e3);
    EXPECT_NEAR(shop.runner.cutoffs[3].at(0), 2 * 2.16e6, 1e3);
}

}  // namespace
}  // namespace kiln
