// What a job makes of the trials that are recorded already.
#include <gtest/gtest.h>

#include "tests/tuner/job/fake_workshop.h"
#include "tests/tuner/job/tuned_layers.h"
#include "tuner/job/tune.h"

namespace kiln {
namespace {

TEST(Tune, ARerunGoesOnAndRepeatsNothing) {
    FakeWorkshop at_once, in_steps;
    ASSERT_TRUE(at_once.tune({layer_a, layer_b}, trials(9)).ok());
    ASSERT_TRUE(in_steps.tune({layer_a, layer_b}, trials(4)).ok());
    const auto report = in_steps.tune({layer_a, layer_b}, trials(9));
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->workloads[0].trials, 9);
    EXPECT_EQ(report->workloads[0].new_trials, 5);
    EXPECT_TRUE(report->workloads[0].default_ns);
    EXPECT_EQ(in_steps.builder.candidates.size(), 18u);
    const auto candidates_of = [](const FakeWorkshop &shop, const NamedWorkload &layer) {
        std::vector<std::string> list;
        for (const Trial &trial : shop.trials()) {
            if (trial.workload == key(layer.workload)) list.push_back(trial.candidate);
        }
        return list;
    };
    for (const NamedWorkload &layer : {layer_a, layer_b}) {
        EXPECT_EQ(candidates_of(at_once, layer), candidates_of(in_steps, layer));
    }
    ASSERT_TRUE(in_steps.tune({layer_a, layer_b}, trials(9)).ok());
    EXPECT_EQ(in_steps.builder.candidates.size(), 18u);
}

TEST(Tune, ARerunTriesUnstableCandidatesAgainWhereNothingElseIsKnown) {
    FakeWorkshop shop;
    shop.runner.refuses = [](size_t) { return TrialStatus::unstable; };
    ASSERT_TRUE(shop.tune({layer_a}, trials(3)).ok());
    shop.runner.refuses = [](size_t n) { return n == 5 ? std::optional(TrialStatus::unstable) : std::nullopt; };
    auto report = shop.tune({layer_a}, trials(3));
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->workloads[0].new_trials, 3);
    EXPECT_EQ(report->workloads[0].failures, 1);
    const auto &candidates = shop.builder.candidates;
    EXPECT_TRUE(std::equal(candidates.begin(), candidates.begin() + 3, candidates.begin() + 3));
    const TunedWorkload repaired = report->workloads[0];
    report = shop.tune({layer_a}, trials(3));
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->workloads[0].new_trials, 0);
    EXPECT_EQ(report->workloads[0].trials, 3);
    EXPECT_EQ(report->workloads[0].failures, 1);
    EXPECT_EQ(report->workloads[0].best_ns, repaired.best_ns) << "what was tried again counts in later jobs, too";
    EXPECT_EQ(report->workloads[0].best_candidate, repaired.best_candidate);
}

// A candidate with a trial that failed and a later one that is ok.
TEST(Tune, ALaterValidTrialCountsUnlessTheKernelWasRefuted) {
    const std::pair<TrialStatus, bool> cases[] = {{TrialStatus::unstable, true},
                                                  {TrialStatus::timeout, true},
                                                  {TrialStatus::out_of_memory, true},
                                                  {TrialStatus::wrong_result, false},
                                                  {TrialStatus::crash, false}};
    for (const auto &[status, counts] : cases) {
        FakeWorkshop shop;
        ASSERT_TRUE(shop.tune({layer_a}, trials(1)).ok());
        const Trial valid = shop.trials().at(0);
        const auto measurement = shop.store.measurement_of(valid.id);
        shop.store = std::move(*TrialStore::in_memory());
        Trial failed = valid;
        failed.id.clear();
        failed.status = status, failed.message = "made to fail";
        failed.created_at = "2000-01-01T00:00:00.000Z";
        ASSERT_TRUE(shop.store.append(failed, std::nullopt).ok());
        ASSERT_TRUE(shop.store.append(valid, **measurement).ok());
        const auto report = shop.tune({layer_a}, trials(1));
        ASSERT_TRUE(report.ok());
        const TunedWorkload &tuned = report->workloads[0];
        EXPECT_EQ(tuned.trials, 1) << name(status);
        EXPECT_EQ(tuned.new_trials, 0) << name(status);
        EXPECT_EQ(tuned.best_ns.has_value(), counts) << name(status);
        EXPECT_EQ(tuned.failures, counts ? 0 : 1) << name(status);
    }
}

TEST(Tune, ARerunTriesCandidatesAgainWhoseCompilerWasKilled) {
    const char *messages[] = {"kiln-generator: signal 9 (SIGKILL)", "kiln-generator was killed: signal 9 (SIGKILL)"};
    for (const char *message : messages) {
        FakeWorkshop shop;
        shop.builder.says = message;
        shop.builder.refuses = [](size_t n) {
            return n <= 3 ? std::optional(TrialStatus::compile_error) : std::nullopt;
        };
        auto report = shop.tune({layer_a}, trials(3));
        ASSERT_TRUE(report.ok());
        EXPECT_EQ(report->workloads[0].new_trials, 3) << "a job ends though all of its builds are killed";
        report = shop.tune({layer_a}, trials(3));
        ASSERT_TRUE(report.ok());
        EXPECT_EQ(report->workloads[0].new_trials, 3);
        EXPECT_EQ(report->workloads[0].failures, 0);
        EXPECT_EQ(shop.builder.candidates[0], shop.builder.candidates[3]) << "the default first";
        EXPECT_EQ(shop.tune({layer_a}, trials(3))->workloads[0].new_trials, 0);
    }
}

TEST(Tune, OnlyTrialsUnderTheSameConditionsCount) {
    const struct {
        std::string what;
        std::function<void(FakeWorkshop &, TuneOptions &)> change;
    } cases[] = {
        {"toolchain", [](FakeWorkshop &shop, TuneOptions &) { shop.builder.version = "test 2"; }},
        {"machine", [](FakeWorkshop &shop, TuneOptions &) { shop.machine.cpu_id = "other"; }},
        {"threads", [](FakeWorkshop &shop, TuneOptions &) { shop.target.threads = 2; }},
        {"cache", [](FakeWorkshop &, TuneOptions &options) { options.cache = CacheMode::cold; }},
        {"error budget", [](FakeWorkshop &, TuneOptions &options) { options.error_budget = 1e-4; }},
    };
    for (const auto &c : cases) {
        FakeWorkshop shop;
        TuneOptions options = trials(3);
        ASSERT_TRUE(shop.tune({layer_a}, options).ok());
        c.change(shop, options);
        const auto report = shop.tune({layer_a}, options);
        ASSERT_TRUE(report.ok()) << c.what;
        EXPECT_EQ(report->workloads[0].new_trials, 3) << c.what;
    }
}

TEST(Tune, AnIdenticalObjectIsNotMeasuredAgain) {
    FakeWorkshop shop;
    shop.builder.hash = [](const std::string &) { return "same"; };
    ASSERT_TRUE(shop.tune({layer_a}, trials(5)).ok());
    EXPECT_EQ(shop.runner.runs, 1u);
    for (const Trial &trial : shop.trials()) {
        EXPECT_EQ(trial.status, TrialStatus::ok);
        EXPECT_EQ(trial.errors.max, 1e-6);
        EXPECT_EQ(trial.workspace_bytes, 64);
    }
    // Another toolchain that makes the same code. A job judges once what an earlier one has timed.
    shop.builder.version = "test 2";
    ASSERT_TRUE(shop.tune({layer_a}, trials(5)).ok());
    EXPECT_EQ(shop.runner.measured, 1u);
    EXPECT_EQ(shop.runner.runs, 2u);
    EXPECT_EQ(shop.trials().size(), 10u);
    // The code was right on one workload; on another it must be judged once more.
    ASSERT_TRUE(shop.tune({layer_b}, trials(5)).ok());
    EXPECT_EQ(shop.runner.measured, 2u);
    EXPECT_EQ(shop.runner.runs, 3u);
    // Timed with warm weights only.
    TuneOptions cold = trials(5);
    cold.cache = CacheMode::cold;
    ASSERT_TRUE(shop.tune({layer_a}, cold).ok());
    EXPECT_EQ(shop.runner.measured, 3u);
    EXPECT_EQ(shop.runner.runs, 4u);
    // Right within 1e-6, which is not enough now.
    TuneOptions strict = trials(1);
    strict.error_budget = 1e-7;
    shop.runner.refuses = [](size_t) { return TrialStatus::wrong_result; };
    ASSERT_TRUE(shop.tune({layer_a}, strict).ok());
    EXPECT_EQ(shop.runner.measured, 4u);
    EXPECT_EQ(shop.runner.runs, 5u);
}

// Ids are no signatures: this row says that this machine found the kernel right, and has it need no memory.
TEST(Tune, ARecordFromElsewhereLendsNoVerdict) {
    for (const bool is_wrong : {false, true}) {
        FakeWorkshop shop;
        shop.builder.hash = [](const std::string &) { return "same"; };
        ASSERT_TRUE(shop.tune({layer_a}, trials(1)).ok());
        Trial forged = shop.trials()[0];
        const Measurement measurement =
            **shop.store.measurement("same", forged.machine, 1, CacheMode::warm, Metric::ns);
        forged.id.clear();
        forged.errors = {.max = 1e-12, .rms = 1e-13, .wide = 1e-12};
        forged.workspace_bytes = 0;
        FakeWorkshop victim;
        ASSERT_TRUE(victim.store.append(forged, measurement).ok());
        victim.builder.hash = shop.builder.hash;
        victim.builder.version = "test 2";
        if (is_wrong) victim.runner.refuses = [](size_t) { return TrialStatus::wrong_result; };
        ASSERT_TRUE(victim.tune({layer_a}, trials(3)).ok());
        for (const Trial &trial : victim.trials()) {
            if (trial.toolchain != "test 2") continue;
            EXPECT_EQ(trial.status, is_wrong ? TrialStatus::wrong_result : TrialStatus::ok);
            EXPECT_EQ(trial.errors.max, 1e-6);
            EXPECT_EQ(trial.workspace_bytes.value_or(0), is_wrong ? 0 : 64);
        }
        EXPECT_EQ(victim.trials().size(), 4u);
        EXPECT_EQ(victim.runner.measured, 0u) << "its time is a claim like any other";
        EXPECT_EQ(victim.runner.runs, is_wrong ? 3u : 1u);
    }
}

TEST(Tune, AVerdictOverTheBudgetOnWideDataIsNotReused) {
    FakeWorkshop shop;
    shop.builder.hash = [](const std::string &) { return "same"; };
    shop.runner.max_error = 1e-7;
    shop.runner.wide_error = 1e-4;
    TuneOptions options = trials(1);
    options.error_budget = 1e-3;
    ASSERT_TRUE(shop.tune({layer_a}, options).ok());
    options.error_budget = 1e-3 / 2;
    ASSERT_TRUE(shop.tune({layer_a}, options).ok());
    EXPECT_EQ(shop.runner.measured, 1u);
    options.error_budget = 1e-5;
    ASSERT_TRUE(shop.tune({layer_a}, options).ok());
    EXPECT_EQ(shop.runner.measured, 2u);
}

TEST(Tune, AFailedVerdictIsNotReused) {
    FakeWorkshop shop;
    shop.builder.hash = [](const std::string &) { return "same"; };
    shop.runner.refuses = [](size_t) { return TrialStatus::wrong_result; };
    ASSERT_TRUE(shop.tune({layer_a}, trials(3)).ok());
    EXPECT_EQ(shop.runner.runs, 3u);
}

}  // namespace
}  // namespace kiln
