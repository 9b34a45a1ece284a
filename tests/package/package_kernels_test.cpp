#include "package/package_kernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/tuner/job/fake_workshop.h"
#include "tuner/job/candidate_choice.h"

namespace kiln {
namespace {

const NamedWorkload layer{"net", "a", 2, convolution({1, 56, 56, 64}, {1, 1, 64, 64})};
const NamedWorkload same_layer{"net", "b", 1, layer.workload};

NamedWorkload unsupported_layer() { return {"net", "huge", 1, convolution({1, 65536, 65536, 4}, {3, 3, 4, 8})}; }

struct Collected {
    CollectedKernels kernels;
    size_t runs;  // of the runner
};

Collected collect(FakeWorkshop &shop, const std::vector<NamedWorkload> &workloads, bool with_store = true,
                  double error_budget = default_error_budget) {
    const size_t before = shop.runner.runs;
    const CollectEnvironment environment{.builder = shop.builder,
                                         .runner = shop.runner,
                                         .store = with_store ? &shop.store : nullptr,
                                         .machine = shop.machine,
                                         .error_budget = error_budget,
                                         .interrupted = shop.interrupted};
    auto collected = collect_kernels(workloads, {shop.target}, environment, [](const KernelReport &) {});
    EXPECT_TRUE(collected.ok());
    return {std::move(*collected), shop.runner.runs - before};
}

void tune(FakeWorkshop &shop) {
    TuneOptions options;
    options.trials = 4;
    ASSERT_TRUE(shop.tune({layer}, options).ok());
}

TEST(PackageKernels, ATunedKernelIsTheMeasuredOne) {
    FakeWorkshop shop;
    tune(shop);
    const Collected c = collect(shop, {layer});
    ASSERT_EQ(c.kernels.kernels.size(), 1u);
    const PackagedKernel &kernel = c.kernels.kernels[0];
    const auto best = shop.store.best({});
    EXPECT_EQ(c.kernels.reports[0].source, KernelSource::tuned);
    EXPECT_EQ(kernel.candidate, (*best)->trial.candidate);
    EXPECT_EQ(kernel.best->trial.id, (*best)->trial.id);
    ASSERT_NE(kernel.measurement(), nullptr);
    EXPECT_EQ(kernel.workspace_bytes, 64);
    EXPECT_EQ(c.runs, 1u) << "a row is no proof that this machine judged the object";
    EXPECT_EQ(kernel.judgement.machine, key(shop.machine));
    EXPECT_EQ(kernel.judgement.error_budget, default_error_budget);
}

// A row that says of a good kernel what is not so. It is the best of its database: nothing is faster.
struct Forgery {
    const char *what;
    std::function<void(Trial &, Measurement &)> change;
};
const Forgery forgeries[] = {
    {"no workspace", [](Trial &t, Measurement &) { t.workspace_bytes = t.workspace_bytes_per_thread = 0; }},
    {"more workspace than there is",
     [](Trial &t, Measurement &) {
         t.workspace_bytes = t.workspace_bytes_per_thread = std::numeric_limits<int64_t>::max();
     }},
    {"no packed weights", [](Trial &t, Measurement &) { t.packed_bytes = 0; }},
    {"a small error", [](Trial &t, Measurement &) { t.errors = {.max = 1e-12, .rms = 1e-13, .wide = 1e-12}; }},
};

void record(FakeWorkshop &shop, const std::function<void(Trial &, Measurement &)> &change) {
    Trial trial = (*shop.store.best({}))->trial;
    Measurement measurement = (*shop.store.best({}))->measurement;
    trial.id.clear();
    trial.created_at = "2026-01-02T00:00:00.000Z";
    measurement.samples = {1, 1, 1};
    measurement.median = 1;
    change(trial, measurement);
    const auto stored = shop.store.append(trial, measurement);
    ASSERT_TRUE(stored.ok()) << stored.error().message;
}

TEST(PackageKernels, SizesAndErrorsAreThoseFoundHere) {
    for (const Forgery &forgery : forgeries) {
        FakeWorkshop shop;
        tune(shop);
        record(shop, forgery.change);
        const Collected c = collect(shop, {layer});
        ASSERT_EQ(c.kernels.kernels.size(), 1u) << forgery.what;
        const PackagedKernel &kernel = c.kernels.kernels[0];
        EXPECT_EQ(kernel.workspace_bytes, 64) << forgery.what;
        EXPECT_EQ(kernel.workspace_bytes_per_thread, 0) << forgery.what;
        EXPECT_EQ(kernel.artifact.packed_bytes, 2000) << forgery.what;
        EXPECT_EQ(kernel.errors.max, shop.runner.max_error) << forgery.what;
        EXPECT_EQ(c.runs, 1u) << forgery.what;
    }
}

TEST(PackageKernels, TheLargestErrorIsOfErrorsFoundHere) {
    FakeWorkshop shop;
    tune(shop);
    record(shop, [](Trial &t, Measurement &) { t.errors = {.max = 1e-12, .rms = 1e-13, .wide = 1e-12}; });
    const Collected c = collect(shop, {layer}, true, 1e-10);
    ASSERT_EQ(c.kernels.reports.size(), 1u);
    EXPECT_EQ(c.kernels.reports[0].source, KernelSource::missing);
    EXPECT_NE(c.kernels.reports[0].message.find("its error here is 1e-06"), std::string::npos)
        << c.kernels.reports[0].message;
}

// The default kernels' error here is 1e-6.
TEST(PackageKernels, TheLargestErrorHoldsForDefaultsToo) {
    struct Row {
        double budget;
        KernelSource source;
    };
    const Row rows[] = {{1e-8, KernelSource::missing},
                        {9e-7, KernelSource::missing},
                        {2e-6, KernelSource::untuned},
                        {default_error_budget, KernelSource::untuned},
                        {1e-3, KernelSource::untuned}};
    for (const Row &row : rows) {
        for (const bool with_store : {false, true}) {
            FakeWorkshop shop;
            const Collected c = collect(shop, {layer}, with_store, row.budget);
            ASSERT_EQ(c.kernels.reports.size(), 1u) << row.budget;
            const KernelReport &report = c.kernels.reports[0];
            EXPECT_EQ(report.source, row.source) << row.budget;
            if (row.source == KernelSource::missing) {
                EXPECT_TRUE(c.kernels.kernels.empty()) << row.budget;
                const std::string why =
                    fmt::format("its error here is 1e-06, and the largest allowed is {:.2g}", row.budget);
                EXPECT_NE(report.message.find(why), std::string::npos) << report.message;
            } else {
                ASSERT_EQ(c.kernels.kernels.size(), 1u) << row.budget;
                EXPECT_EQ(c.kernels.kernels[0].judgement.error_budget, row.budget);
            }
        }
    }
}

TEST(PackageKernels, ADefaultWhoseErrorIsBelowTheAskedOneShips) {
    FakeWorkshop shop;
    shop.runner.max_error = 1e-4;
    EXPECT_TRUE(collect(shop, {layer}).kernels.kernels.empty());
    EXPECT_EQ(collect(shop, {layer}, true, 1e-3).kernels.kernels.size(), 1u);
}

TEST(PackageKernels, ABadRowDoesNotKeepTheGoodOnesFromBeingUsed) {
    FakeWorkshop shop;
    tune(shop);
    const size_t runs = shop.runner.runs;
    shop.runner.refuses = [=](size_t n) -> std::optional<TrialStatus> {
        if (n == runs + 1) return TrialStatus::wrong_result;
        return std::nullopt;
    };
    const Collected c = collect(shop, {layer});
    ASSERT_EQ(c.kernels.kernels.size(), 1u);
    EXPECT_EQ(c.kernels.reports[0].source, KernelSource::tuned);
    EXPECT_NE(c.kernels.kernels[0].best->trial.id, (*shop.store.best({}))->trial.id);
    EXPECT_NE(c.kernels.reports[0].message.find("wrong_result"), std::string::npos);
    EXPECT_EQ(c.runs, 2u);
}

TEST(PackageKernels, ManyBadRowsDoNotHoldUpABuild) {
    FakeWorkshop shop;
    TuneOptions options;
    options.trials = 30;
    ASSERT_TRUE(shop.tune({layer}, options).ok());
    const size_t builds = shop.builder.candidates.size();
    shop.runner.refuses = [](size_t) { return TrialStatus::crash; };
    const Collected c = collect(shop, {layer});
    EXPECT_TRUE(c.kernels.kernels.empty());
    EXPECT_LE(shop.builder.candidates.size() - builds, 20u)
        << "8 recorded ones, a default for each algorithm, and a few others";
}

TEST(PackageKernels, WithoutARowTheDefaultIsCheckedFirst) {
    for (const bool with_store : {false, true}) {
        FakeWorkshop shop;
        const Collected c = collect(shop, {layer}, with_store);
        ASSERT_EQ(c.kernels.kernels.size(), 1u);
        EXPECT_EQ(c.kernels.reports[0].source, KernelSource::untuned);
        EXPECT_FALSE(c.kernels.kernels[0].best);
        EXPECT_EQ(c.kernels.kernels[0].workspace_bytes, 64);
        EXPECT_EQ(c.runs, 1u);
    }
}

TEST(PackageKernels, WhereAllDefaultsFailAnotherCandidateShips) {
    std::string shipped;
    for (int round = 0; round < 2; round++) {
        FakeWorkshop shop;
        const auto usable = usable_algorithms(layer.workload, {.target = shop.target, .machine = shop.machine});
        ASSERT_TRUE(usable);
        const size_t defaults = usable->size();
        shop.runner.refuses = [=](size_t run) -> std::optional<TrialStatus> {
            if (run <= defaults) return TrialStatus::crash;
            return std::nullopt;
        };
        const Collected c = collect(shop, {layer});
        ASSERT_EQ(c.kernels.kernels.size(), 1u);
        EXPECT_EQ(c.runs, defaults + 1);
        EXPECT_EQ(c.kernels.reports[0].source, KernelSource::untuned);
        EXPECT_NE(c.kernels.reports[0].message.find("is not used: crash"), std::string::npos);
        if (round == 1) {
            EXPECT_EQ(c.kernels.kernels[0].candidate, shipped) << "the same in each build";
        }
        shipped = c.kernels.kernels[0].candidate;
    }
}

TEST(PackageKernels, AnotherObjectThanTheMeasuredOneIsCheckedAgain) {
    FakeWorkshop shop;
    tune(shop);
    shop.builder.hash = [](const std::string &text) { return "new compiler's " + text; };
    const Collected c = collect(shop, {layer});
    ASSERT_EQ(c.kernels.kernels.size(), 1u);
    EXPECT_EQ(c.kernels.reports[0].source, KernelSource::stale);
    EXPECT_TRUE(c.kernels.kernels[0].best);
    EXPECT_EQ(c.kernels.kernels[0].measurement(), nullptr) << "its speed is not known";
    EXPECT_EQ(c.runs, 1u);
}

TEST(PackageKernels, ARecordedCandidateThatFailsGivesWayToTheDefault) {
    FakeWorkshop shop;
    tune(shop);
    const size_t builds = shop.builder.candidates.size();
    shop.builder.refuses = [=](size_t n) -> std::optional<TrialStatus> {
        if (n > builds && n <= builds + 4) return TrialStatus::crash;  // all that is recorded
        return std::nullopt;
    };
    const Collected c = collect(shop, {layer});
    ASSERT_EQ(c.kernels.kernels.size(), 1u);
    EXPECT_EQ(c.kernels.reports[0].source, KernelSource::untuned);
    EXPECT_NE(c.kernels.reports[0].message.find("made to fail"), std::string::npos);
}

TEST(PackageKernels, NothingWrongShips) {
    FakeWorkshop shop;
    shop.runner.refuses = [](size_t) { return TrialStatus::wrong_result; };
    const Collected c = collect(shop, {layer});
    EXPECT_TRUE(c.kernels.kernels.empty());
    EXPECT_EQ(c.kernels.reports[0].source, KernelSource::missing);
    const std::string &message = c.kernels.reports[0].message;
    EXPECT_NE(message.find("wrong_result"), std::string::npos);
    EXPECT_NE(message.find("; nor are "), std::string::npos) << message;
    EXPECT_EQ(message.find("is not used"), message.rfind("is not used")) << "one reason stands for all: " << message;
}

TEST(PackageKernels, UnsupportedWorkloadsAreReportedAndTheOthersGoOn) {
    FakeWorkshop shop;
    const Collected c = collect(shop, {unsupported_layer(), layer, same_layer});
    ASSERT_EQ(c.kernels.reports.size(), 2u) << "equal workloads are collected once";
    EXPECT_EQ(c.kernels.reports[0].source, KernelSource::missing);
    EXPECT_NE(c.kernels.reports[0].message.find("2^31 elements"), std::string::npos);
    ASSERT_EQ(c.kernels.kernels.size(), 1u);
    EXPECT_EQ(c.kernels.kernels[0].workload.name, "a");
}

TEST(PackageKernels, WhatHasAnEmptyResultNeedsNoKernel) {
    FakeWorkshop shop;
    const NamedWorkload empty{"net", "empty", 1, convolution({1, 8, 8, 4}, {9, 9, 4, 8})};
    const Collected c = collect(shop, {empty, layer});
    ASSERT_EQ(c.kernels.reports.size(), 2u);
    EXPECT_EQ(c.kernels.reports[0].source, KernelSource::empty);
    EXPECT_EQ(c.kernels.reports[0].message, "the output is empty: there is nothing to compute");
    ASSERT_EQ(c.kernels.kernels.size(), 1u);
    EXPECT_EQ(c.kernels.kernels[0].workload.name, "a");
}

TEST(PackageKernels, WhatTheInterfaceHasNoWordsForIsReported) {
    FakeWorkshop shop;
    const NamedWorkload blocks_of_blocks{
        "net", "blocks", 1,
        *parse_workload_key("layout_transform/input:1x4x4x4x32/from_layout:NHWC/to_layout:NCHW2c2c")};
    const Collected c = collect(shop, {blocks_of_blocks, layer});
    EXPECT_EQ(c.kernels.reports[0].source, KernelSource::missing);
    EXPECT_NE(c.kernels.reports[0].message.find("7 dimensions"), std::string::npos) << c.kernels.reports[0].message;
    EXPECT_EQ(c.kernels.kernels.size(), 1u);
}

TEST(PackageKernels, TheJobsErrorsAndInterruptsEndIt) {
    FakeWorkshop shop;
    const CollectEnvironment environment{
        .builder = shop.builder, .runner = shop.runner, .machine = shop.machine, .interrupted = [] { return true; }};
    const auto interrupted = collect_kernels({layer}, {shop.target}, environment, [](const KernelReport &) {});
    ASSERT_FALSE(interrupted.ok());
    EXPECT_EQ(interrupted.error().code, ErrorCode::interrupted);

    shop.builder.fails_with = [](size_t) { return environment_error("no space left"); };
    const CollectEnvironment full{
        .builder = shop.builder, .runner = shop.runner, .machine = shop.machine, .interrupted = [] { return false; }};
    const auto failed = collect_kernels({layer}, {shop.target}, full, [](const KernelReport &) {});
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, ErrorCode::environment);
}

}  // namespace
}  // namespace kiln
