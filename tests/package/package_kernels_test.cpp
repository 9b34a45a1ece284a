#include "package/package_kernels.h"

#include <gtest/gtest.h>

#include "tests/tuner/job/fake_workshop.h"

namespace kiln {
namespace {

const NamedWorkload layer{"net", "a", 2, convolution({1, 56, 56, 64}, {1, 1, 64, 64})};
const NamedWorkload same_layer{"net", "b", 1, layer.workload};

NamedWorkload unsupported_layer() { return {"net", "empty", 1, convolution({1, 8, 8, 4}, {9, 9, 4, 8})}; }

struct Collected {
    CollectedKernels kernels;
    size_t runs;  // of the runner
};

Collected collect(FakeWorkshop &shop, const std::vector<NamedWorkload> &workloads, bool with_store = true) {
    const size_t before = shop.runner.runs;
    const CollectEnvironment environment{.builder = shop.builder,
                                         .runner = shop.runner,
                                         .store = with_store ? &shop.store : nullptr,
                                         .machine = shop.machine,
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
    EXPECT_EQ(c.runs, 0u) << "what was judged to the byte is not judged again";
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
        if (n == builds + 1) return TrialStatus::crash;
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
    EXPECT_NE(c.kernels.reports[0].message.find("wrong_result"), std::string::npos);
}

TEST(PackageKernels, UnsupportedWorkloadsAreReportedAndTheOthersGoOn) {
    FakeWorkshop shop;
    const Collected c = collect(shop, {unsupported_layer(), layer, same_layer});
    ASSERT_EQ(c.kernels.reports.size(), 2u) << "equal workloads are collected once";
    EXPECT_EQ(c.kernels.reports[0].source, KernelSource::missing);
    EXPECT_NE(c.kernels.reports[0].message.find("empty"), std::string::npos);
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
