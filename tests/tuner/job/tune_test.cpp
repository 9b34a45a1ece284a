#include "tuner/job/tune.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "tests/tuner/job/fake_workshop.h"
#include "tests/tuner/job/tuned_layers.h"
#include "tuner/job/candidate_choice.h"
#include "tuner/job/candidate_judge.h"

namespace kiln {
namespace {

// The default of each algorithm that applies, the one of untuned layers first.
TEST(Tune, DefaultCandidatesFirstThenTheSearch) {
    FakeWorkshop shop;
    TuneOptions options = trials(6);
    options.strategy = "random";
    const auto report = shop.tune({layer_a}, options);
    ASSERT_TRUE(report.ok());
    const std::vector<Trial> recorded = shop.trials();
    ASSERT_EQ(recorded.size(), 6u);
    EXPECT_EQ(recorded[0].candidate,
              to_text(*default_candidate(layer_a.workload, shop.target, core_of(shop.machine, shop.target),
                                         default_error_budget)));
    const auto applies = [&](const Algorithm &a) { return a.applies(layer_a.workload, shop.target).ok(); };
    const auto defaults = static_cast<size_t>(std::ranges::count_if(catalog(), applies));
    ASSERT_LT(defaults, recorded.size());
    for (size_t i = 0; i < recorded.size(); i++) EXPECT_EQ(recorded[i].origin, i < defaults ? "default" : "random");

    ASSERT_EQ(report->workloads.size(), 1u);
    const TunedWorkload &tuned = report->workloads[0];
    EXPECT_EQ(tuned.trials, 6);
    EXPECT_EQ(tuned.new_trials, 6);
    EXPECT_EQ(tuned.failures, 0);
    EXPECT_EQ(tuned.problem, "");
    const auto best = shop.store.best({});
    ASSERT_TRUE(best.ok() && best->has_value());
    EXPECT_EQ(tuned.best_candidate, (*best)->trial.candidate);
    EXPECT_EQ(tuned.best_ns, (*best)->measurement.median);
    EXPECT_GE(*tuned.default_ns, *tuned.best_ns);
}

// The default that `tune` compares with is the kernel that `build`, `bench` and `check` use without trials.
TEST(Tune, TheDefaultIsThatOfOtherCommandsForEveryErrorBudget) {
    const NamedWorkload layer{"net", "a", 1, convolution({1, 14, 14, 64}, {3, 3, 64, 64})};
    for (const double error_budget : {1e-4, 1e-5, 2e-6}) {
        FakeWorkshop shop;
        const ChoiceContext context{.target = shop.target, .machine = shop.machine, .error_budget = error_budget};
        const auto untuned = choose_candidate(layer.workload, *usable_algorithms(layer.workload, context), context);
        ASSERT_TRUE(untuned.ok());
        TuneOptions options = trials(1);
        options.error_budget = error_budget;
        ASSERT_TRUE(shop.tune({layer}, options).ok());
        EXPECT_EQ(shop.trials().at(0).candidate, to_text(untuned->candidate)) << error_budget;
        EXPECT_EQ(shop.trials().at(0).candidate.starts_with("winograd_4@"), error_budget >= 1e-5);
    }
}

// `quantized` is the last resort there, see Algorithm.
TEST(Tune, SoftCoresSearchTheirOwnAlgorithms) {
    const std::string layer = "conv2d/input:1x6x6x8/kernel:1x1x8x12/dtype:i8/epilogue:bias,requantize_litert";
    const struct {
        std::string key, target, asked;
        std::set<std::string> searched;
    } rows[] = {
        {layer, "riscv-32-noos", "*", {"scalar_dense", "shared_dense"}},
        {layer, "riscv-32-noos", "q*", {"quantized"}},
        {layer, "x86-64-linux", "*", {"quantized"}},
        {"conv2d/input:1x6x6x8/kernel:1x1x4x12/feature_group_count:2/dtype:i8/epilogue:bias,requantize_litert",
         "riscv-32-noos",
         "*",
         {"quantized"}},
    };
    for (const auto &row : rows) {
        FakeWorkshop shop;
        shop.target = {row.target, 1};
        TuneOptions options = trials(20);
        options.algorithm = row.asked;
        options.strategy = "random";
        ASSERT_TRUE(shop.tune({{"net", "a", 1, *parse_workload_key(row.key)}}, options).ok());
        std::set<std::string> searched;
        for (const Trial &trial : shop.trials()) searched.insert(trial.candidate.substr(0, trial.candidate.find('@')));
        EXPECT_EQ(searched, row.searched) << row.key << " " << row.target << " " << row.asked;
    }
}

TEST(Tune, RecordsWhatTheTrialWas) {
    FakeWorkshop shop;
    TuneOptions options = trials(1);
    options.error_budget = 1e-3;
    options.cache = CacheMode::cold;
    ASSERT_TRUE(shop.tune({layer_a}, options).ok());
    const Trial trial = shop.trials().at(0);
    EXPECT_EQ(trial.workload, key(layer_a.workload));
    EXPECT_EQ(trial.target, shop.target.halide);
    EXPECT_EQ(trial.threads, 1);
    EXPECT_EQ(trial.machine, key(shop.machine));
    EXPECT_EQ(trial.toolchain, "test 1");
    EXPECT_EQ(trial.error_budget, 1e-3);
    EXPECT_EQ(trial.errors.max, 1e-6);
    EXPECT_EQ(trial.cache, CacheMode::cold);
    EXPECT_EQ(trial.object_hash, "hash of " + trial.candidate);
    EXPECT_EQ(trial.object_bytes, 1000);
    EXPECT_EQ(trial.packed_bytes, 2000);
    EXPECT_EQ(trial.workspace_bytes, 64);
    EXPECT_EQ(trial.build_ns, 1'000'000'000);
    EXPECT_EQ(trial.run_ns, 1'000'000'000);
}

// The doors for targets that kiln cannot run on: who measures is not the machine of the job, and counts something else.
TEST(Tune, AnEmulatorThatCountsMayMeasure) {
    FakeWorkshop shop;
    shop.emulator = "an emulated board";
    shop.runner.measures.metric = Metric::instructions;
    shop.runner.measures.is_noisy = false;
    TuneOptions options = trials(12);
    options.race_time_ns = 1'000'000'000'000;
    ASSERT_TRUE(shop.tune({layer_a}, options).ok());
    EXPECT_TRUE(shop.runner.heats.empty()) << "exact counts need no race";
    for (const auto &cutoffs : shop.runner.cutoffs) EXPECT_TRUE(cutoffs.empty()) << "cutoffs are times";
    const std::vector<Trial> recorded = shop.trials();
    ASSERT_EQ(recorded.size(), 12u);
    for (const Trial &trial : recorded) {
        EXPECT_EQ(trial.machine, "an emulated board");
        const auto measurement = shop.store.measurement_of(trial.id);
        ASSERT_TRUE(measurement.ok() && measurement->has_value());
        EXPECT_EQ((*measurement)->metric, Metric::instructions);
        EXPECT_EQ((*measurement)->machine, "an emulated board");
    }
    shop.runner.runs = 0;
    const auto again = shop.tune({layer_a}, options);
    EXPECT_EQ(again->workloads[0].trials, 12) << "what it recorded counts";
    EXPECT_EQ(shop.runner.runs, 0u);
    EXPECT_TRUE(again->workloads[0].best_ns.has_value());
}

TEST(Tune, EveryFailureIsATrialAndTheJobGoesOn) {
    const TrialStatus builds[] = {TrialStatus::compile_error, TrialStatus::compile_timeout, TrialStatus::crash,
                                  TrialStatus::out_of_memory};
    const TrialStatus runs[] = {TrialStatus::crash, TrialStatus::timeout, TrialStatus::out_of_memory,
                                TrialStatus::wrong_result, TrialStatus::unstable};
    for (const bool while_building : {true, false}) {
        for (const TrialStatus status : while_building ? std::vector<TrialStatus>(std::begin(builds), std::end(builds))
                                                       : std::vector<TrialStatus>(std::begin(runs), std::end(runs))) {
            FakeWorkshop shop;
            const auto second = [status](size_t n) { return n == 2 ? std::optional(status) : std::nullopt; };
            (while_building ? shop.builder.refuses : shop.runner.refuses) = second;
            const auto report = shop.tune({layer_a}, trials(4));
            ASSERT_TRUE(report.ok()) << report.error().message;
            const std::vector<Trial> recorded = shop.trials();
            ASSERT_EQ(recorded.size(), 4u) << name(status);
            EXPECT_EQ(recorded[1].status, status);
            EXPECT_EQ(recorded[1].message, "made to fail");
            EXPECT_EQ(recorded[1].stderr_text, "what it printed");
            EXPECT_EQ(recorded[1].object_hash.empty(), while_building);
            EXPECT_EQ(report->workloads[0].failures, 1);
            EXPECT_TRUE(report->workloads[0].best_ns);
        }
    }
}

TEST(Tune, AWorkloadWhoseTrialsAllFailSaysSo) {
    FakeWorkshop shop;
    shop.builder.refuses = [](size_t) { return TrialStatus::compile_error; };
    const auto report = shop.tune({layer_a}, trials(3));
    ASSERT_TRUE(report.ok());
    EXPECT_FALSE(report->workloads[0].best_ns);
    EXPECT_EQ(report->workloads[0].problem,
              "none of 3 trials is valid; the last one failed with compile_error: made to fail");
}

TEST(Tune, ABusyMachineIsWaitedForUntilALayerHasATime) {
    FakeWorkshop shop;
    shop.runner.refuses = [](size_t n) { return n <= 2 ? std::optional(TrialStatus::unstable) : std::nullopt; };
    ASSERT_TRUE(shop.tune({layer_a}, trials(5)).ok());
    const auto &patience_ns = shop.runner.patience_ns;
    ASSERT_EQ(patience_ns.size(), 5u);
    for (size_t n = 0; n < 5; n++) EXPECT_EQ(patience_ns[n] > 0, n < 3) << n;
}

TEST(Tune, AnEndOfTimeWhileAKernelWaitsForItsTurnEndsTheJob) {
    FakeWorkshop shop;
    TuneOptions options = trials(50);
    options.time_limit_ns = 20'000'000'000;
    shop.runner.waits_ns = [](size_t n) { return n == 4 ? 3'600'000'000'000 : 0; };
    const auto report = shop.tune({layer_a}, options);
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->out_of_time);
    EXPECT_FALSE(report->interrupted);
    EXPECT_EQ(shop.trials().size(), 3u);
    EXPECT_LT(shop.clock.ns, 30'000'000'000);
}

TEST(Tune, WhatWasMeasuredWhileTheMachineChangedIsMeasuredAgain) {
    FakeWorkshop shop;
    shop.runner.sentinel = [](size_t run) { return run == 3 ? SentinelReading{100, 130} : SentinelReading{100, 100}; };
    ASSERT_TRUE(shop.tune({layer_a}, trials(4)).ok());
    EXPECT_EQ(shop.runner.runs, 5u);
    EXPECT_EQ(shop.trials().size(), 4u);
}

TEST(Tune, SlowCandidatesMayBeCutOff) {
    FakeWorkshop shop;
    ASSERT_TRUE(shop.tune({layer_a}, trials(12)).ok());
    EXPECT_TRUE(shop.runner.cutoffs.front().empty());
    EXPECT_EQ(shop.runner.cutoffs[1].size(), 1u);  // the probe
    EXPECT_EQ(shop.runner.cutoffs.back().size(), 3u);
    // Recorded ones count, too.
    shop.runner.cutoffs.clear();
    ASSERT_TRUE(shop.tune({layer_a}, trials(13)).ok());
    EXPECT_EQ(shop.runner.cutoffs.front().size(), 3u);
}

TEST(Tune, AnInterruptEndsCleanly) {
    FakeWorkshop shop;
    shop.interrupted = [&] { return shop.builder.candidates.size() >= 3; };
    auto report = shop.tune({layer_a, layer_b}, trials(5));
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->interrupted);
    EXPECT_EQ(report->workloads.size(), 1u);
    EXPECT_EQ(shop.trials().size(), 3u);

    // In the middle of a build: that trial does not exist.
    shop.interrupted = [] { return false; };
    shop.builder.fails_with = [](size_t n) {
        return n == 5 ? std::optional(Error{ErrorCode::interrupted, "interrupted"}) : std::nullopt;
    };
    report = shop.tune({layer_a, layer_b}, trials(5));
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->interrupted);
    EXPECT_EQ(shop.trials().size(), 4u);

    shop.builder.fails_with = [](size_t) { return std::nullopt; };
    report = shop.tune({layer_a, layer_b}, trials(5));
    ASSERT_TRUE(report.ok());
    EXPECT_FALSE(report->interrupted);
    EXPECT_EQ(shop.trials().size(), 10u);
}

TEST(Tune, AnErrorOfTheEnvironmentEndsTheJobAndKeepsWhatIsRecorded) {
    FakeWorkshop shop;
    shop.builder.fails_with = [](size_t n) {
        return n == 4 ? std::optional(environment_error("the disk is full")) : std::nullopt;
    };
    const auto report = shop.tune({layer_a}, trials(9));
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, ErrorCode::environment);
    EXPECT_EQ(report.error().message, "the disk is full");
    EXPECT_EQ(shop.trials().size(), 3u);
}

TEST(Tune, IsAFunctionOfItsSeedForEachWorkload) {
    const auto candidates = [](const std::vector<NamedWorkload> &layers, uint64_t seed) {
        FakeWorkshop shop;
        TuneOptions options = trials(5);
        options.seed = seed;
        options.algorithm = "direct";  // every algorithm's default would come first, whatever the seed
        EXPECT_TRUE(shop.tune(layers, options).ok());
        return std::vector<std::string>(shop.builder.candidates.end() - 5, shop.builder.candidates.end());
    };
    EXPECT_EQ(candidates({layer_b}, 1), candidates({layer_b}, 1));
    EXPECT_EQ(candidates({layer_b}, 1), candidates({layer_a, layer_b}, 1));
    EXPECT_NE(candidates({layer_b}, 1), candidates({layer_b}, 2));
}

TEST(Tune, AWorkloadWithoutAlgorithmSaysWhyAndOthersGoOn) {
    FakeWorkshop shop;
    const auto report = shop.tune({unsupported_layer(), layer_a}, trials(2));
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(report->workloads.size(), 2u);
    EXPECT_TRUE(report->workloads[0].problem.starts_with("no algorithm applies (")) << report->workloads[0].problem;
    EXPECT_NE(report->workloads[0].problem.find("2^31 elements"), std::string::npos);
    EXPECT_EQ(report->workloads[0].trials, 0);
    EXPECT_EQ(report->workloads[1].trials, 2);

    for (const auto &[algorithm, without] : {std::pair{"fft*", ""}, {"*", "*"}}) {
        TuneOptions options = trials(2);
        options.algorithm = algorithm;
        options.without = without;
        const auto none = shop.tune({layer_b}, options);
        ASSERT_TRUE(none.ok());
        EXPECT_TRUE(none->workloads[0].problem.starts_with("no algorithm applies"));
    }
}

TEST(Tune, AnEmptyResultNeedsNoTrial) {
    for (const auto limit : {std::optional<int64_t>(), std::optional<int64_t>(60'000'000'000)}) {
        FakeWorkshop shop;
        TuneOptions options = trials(2);
        options.time_limit_ns = limit;
        const auto report = shop.tune({empty_layer(), layer_a}, options);
        ASSERT_TRUE(report.ok());
        ASSERT_EQ(report->workloads.size(), 2u);
        EXPECT_TRUE(report->workloads[0].is_empty);
        EXPECT_EQ(report->workloads[0].trials, 0);
        EXPECT_FALSE(report->workloads[1].is_empty);
        EXPECT_EQ(report->workloads[1].trials, 2);
        std::vector<std::string> told;
        for (const TuneProgress &p : shop.progress) {
            if (p.event == TuneProgress::Event::workload_finished && p.is_empty) told.push_back(p.problem);
        }
        EXPECT_EQ(told, std::vector<std::string>{"the output is empty: there is nothing to compute"});
    }
}

TEST(Tune, EqualKeysAreTunedOnceAndAllNamesKept) {
    FakeWorkshop shop;
    NamedWorkload twin = layer_a;
    twin.name = "twin";
    const auto report = shop.tune({layer_a, twin, layer_a}, trials(2));
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(report->workloads.size(), 1u);
    EXPECT_EQ(report->workloads[0].workload.count, 6);
    const auto names = shop.store.sql("SELECT list, name, count FROM workload_name ORDER BY name");
    ASSERT_TRUE(names.ok()) << names.error().message;
    const std::vector<std::vector<Cell>> expected = {{std::string("net"), std::string("a"), int64_t(4)},
                                                     {std::string("net"), std::string("twin"), int64_t(2)}};
    EXPECT_EQ(names->rows, expected);
}

TEST(Tune, TellsHowItGoes) {
    FakeWorkshop shop;
    ASSERT_TRUE(shop.tune({layer_a, layer_b}, trials(3)).ok());
    using Event = TuneProgress::Event;
    const Event one[] = {Event::workload_started, Event::trial_recorded, Event::trial_recorded, Event::trial_recorded,
                         Event::workload_finished};
    ASSERT_EQ(shop.progress.size(), 10u);
    for (size_t i = 0; i < 10; i++) {
        const TuneProgress &p = shop.progress[i];
        EXPECT_EQ(p.event, one[i % 5]);
        EXPECT_EQ(p.workload_index, i / 5);
        EXPECT_EQ(p.workload_count, 2u);
        EXPECT_EQ(p.trials_done, std::min<int64_t>(3, i % 5));
        EXPECT_DOUBLE_EQ(p.fraction, static_cast<double>(p.trials_done) / 3);
    }
    EXPECT_EQ(shop.progress[1].seconds_left, 2.0 * 5);
    EXPECT_EQ(shop.progress[9].seconds_left, 0);
}

TEST(CandidateJudge, RecordsACandidateOutsideItsSpaceAsRefused) {
    FakeWorkshop shop;
    const TuneOptions options;
    const TuneEnvironment environment = shop.environment();
    const TuneJob job{shop.target, options, environment};
    CandidateJudge judge(job, layer_a.workload, {});
    Candidate candidate =
        *default_candidate(layer_a.workload, shop.target, core_of(shop.machine, shop.target), default_error_budget);
    candidate.knobs["vectors"] = 1000;
    const auto build = [&] { return shop.builder.build({layer_a.workload, shop.target, candidate}); };
    const auto judged = judge.judge({candidate, "test", build});
    ASSERT_TRUE(judged.ok());
    EXPECT_EQ(judged->trial.status, TrialStatus::refused);
    EXPECT_NE(judged->trial.message.find("vectors"), std::string::npos);
    EXPECT_FALSE(judged->time);
    EXPECT_TRUE(shop.builder.candidates.empty());
    EXPECT_EQ(shop.trials().size(), 1u);
}

}  // namespace
}  // namespace kiln
