// Tuning within a limit of time: that it is kept, and where the time goes.
#include <gtest/gtest.h>

#include "tests/tuner/job/fake_workshop.h"
#include "tests/tuner/job/tuned_layers.h"
#include "tuner/job/tune.h"

namespace kiln {
namespace {

TuneOptions seconds(int64_t n) {
    TuneOptions options = trials(unlimited_trials);
    options.time_limit_ns = n * 1'000'000'000;
    return options;
}

TEST(TuningTime, TheTimeLimitIsKeptAndEveryLayerHasItsFloor) {
    for (const int64_t limit : {20, 60, 300}) {
        FakeWorkshop shop;
        const auto report = shop.tune({layer_a, unsupported_layer(), layer_b}, seconds(limit));
        ASSERT_TRUE(report.ok());
        EXPECT_TRUE(report->out_of_time);
        EXPECT_LE(shop.clock.ns, limit * 1'000'000'000);
        EXPECT_GE(shop.clock.ns, (limit - 2) * 1'000'000'000);  // a trial takes two seconds
        for (const size_t i : {size_t(0), size_t(2)}) EXPECT_GE(report->workloads[i].new_trials, limit < 60 ? 4 : 8);
        EXPECT_EQ(report->workloads[1].new_trials, 0);
        EXPECT_TRUE(report->workloads[1].problem.starts_with("no algorithm applies"));
    }
}

TEST(TuningTime, TimeForRacesIsPutAside) {
    FakeWorkshop shop;
    TuneOptions options = seconds(40);
    options.race_time_ns = 3'000'000'000;
    shop.runner.time_ns = [](const std::string &) { return 1e6; };  // nothing can be told apart
    const auto report = shop.tune({layer_a, layer_b}, options);
    ASSERT_TRUE(report.ok());
    EXPECT_LE(shop.clock.ns, 40'000'000'000);
    for (const TunedWorkload &tuned : report->workloads) EXPECT_TRUE(tuned.race);
}

TEST(TuningTime, GoesWhereItMattersMost) {
    FakeWorkshop shop;
    NamedWorkload often = layer_b;
    often.count = 50;
    const auto report = shop.tune({layer_a, often}, seconds(150));
    ASSERT_TRUE(report.ok());
    EXPECT_GT(report->workloads[1].new_trials, 2 * report->workloads[0].new_trials);
}

TEST(TuningTime, EndsEarlyWhenNothingImproves) {
    FakeWorkshop shop;
    shop.runner.time_ns = [](const std::string &) { return 1000.0; };
    const auto report = shop.tune({layer_a, layer_b}, seconds(3600));
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->at_rest);
    EXPECT_FALSE(report->out_of_time);
    EXPECT_LT(shop.clock.ns, 600'000'000'000);
    for (const TunedWorkload &tuned : report->workloads) EXPECT_GE(tuned.new_trials, 64);
}

TEST(TuningTime, GivesUpALayerWhoseTrialsAllFail) {
    FakeWorkshop shop;
    shop.builder.refuses = [](size_t) { return TrialStatus::compile_error; };
    const auto report = shop.tune({layer_a}, seconds(3600));
    ASSERT_TRUE(report.ok());
    EXPECT_LT(report->workloads[0].new_trials, 60);
    EXPECT_EQ(report->workloads[0].new_failures, report->workloads[0].new_trials);
    EXPECT_TRUE(report->workloads[0].problem.starts_with("none of 5")) << report->workloads[0].problem;
}

TEST(TuningTime, AnInterruptedJobTellsOfWhatItBegan) {
    FakeWorkshop shop;
    shop.interrupted = [&] { return shop.runner.runs > 0; };
    const auto report = shop.tune({layer_a, layer_b}, seconds(300));
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->interrupted);
    ASSERT_EQ(report->workloads.size(), 1);
    EXPECT_EQ(report->workloads[0].workload.name, "a");
    for (const TuneProgress &progress : shop.progress)
        EXPECT_TRUE(progress.workload_index == 0 || progress.event == TuneProgress::Event::workload_started);
}

TEST(TuningTime, WithoutTimeLeftNothingStarts) {
    FakeWorkshop shop;
    TuneOptions options = seconds(1);  // less than the first trial takes
    const auto report = shop.tune({layer_a, layer_b}, options);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->workloads[1].new_trials, 0);
    EXPECT_EQ(report->workloads[1].problem, "the time limit came before the first trial");
}

}  // namespace
}  // namespace kiln
