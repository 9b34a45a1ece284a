#include "tuner/job/candidate_choice.h"

#include <gtest/gtest.h>

#include "tests/tuner/job/valid_trials.h"

namespace kiln {
namespace {

class CandidateChoiceTest : public testing::Test {
protected:
    void SetUp() override {
        machine_.halide_target = parse_target("avx2", 1, "")->halide;
        target_ = {machine_.halide_target, 1};
        store_.emplace(std::move(*TrialStore::in_memory()));
    }

    // A row as `tune` would have written it.
    void record(const std::string &candidate, double median, const std::string &toolchain = "here",
                const std::string &workload = "", const ErrorMeasures &errors = {1e-7, 1e-8, 1e-7},
                double error_budget = 1e-5, CacheMode cache = CacheMode::warm) {
        const std::string hash = std::string(30, '0') + std::to_string(10 + rows_++);
        const Trial trial = valid_trial({.workload = workload.empty() ? key(workload_) : workload,
                                         .target = target_.halide,
                                         .threads = 1,
                                         .machine = key(machine_),
                                         .toolchain = toolchain,
                                         .candidate = candidate,
                                         .error_budget = error_budget,
                                         .errors = errors,
                                         .object_hash = hash,
                                         .cache = cache});
        const auto id = append_valid(*store_, trial, median);
        ASSERT_TRUE(id) << id.error().message;
    }

    // Distinct valid candidates.
    std::string sample(uint64_t seed) {
        Rng rng(seed);
        return to_text(*find_algorithm("direct")->space(workload_, target_, core_of(machine_, target_)).sample(rng));
    }

    CandidateChoice choose(const CacheOrder &caches = caches_of_layers) {
        const ChoiceContext context{.target = target_,
                                    .machine = machine_,
                                    .store = &*store_,
                                    .toolchain = "here",
                                    .algorithms = {},
                                    .caches = caches};
        const auto choice = choose_candidate(workload_, *usable_algorithms(workload_, context), context);
        EXPECT_TRUE(choice) << choice.error().message;
        return *choice;
    }

    Workload workload_ = convolution({1, 14, 14, 64}, {3, 3, 64, 64});
    Machine machine_;
    Target target_;
    std::optional<TrialStore> store_;
    int rows_ = 0;
};

TEST_F(CandidateChoiceTest, WithoutARowItIsTheDefault) {
    record(sample(1), 100, "here", "conv2d/input:1x9x9x9/kernel:1x1x9x9");
    const CandidateChoice choice = choose();
    EXPECT_FALSE(choice.best);
    EXPECT_EQ(choice.candidate,
              *default_candidate(workload_, target_, core_of(machine_, target_), default_error_budget));
}

TEST_F(CandidateChoiceTest, TheFastestRowWins) {
    record(sample(1), 100);
    record(sample(2), 50);
    record(sample(3), 80);
    const CandidateChoice choice = choose();
    ASSERT_TRUE(choice.best);
    EXPECT_EQ(to_text(choice.candidate), sample(2));
    EXPECT_EQ(choice.best->measurement.median, 50);
}

TEST_F(CandidateChoiceTest, RowsWithLargerErrorsThanTheBudgetAreNotUsed) {
    record(sample(1), 10, "here", "", {1e-4, 1e-5, 1e-7}, 1e-3);
    record(sample(2), 20, "here", "", {1e-7, 1e-8, 1e-4}, 1e-3);
    EXPECT_FALSE(choose().best);
    record(sample(3), 30, "here", "", {9e-6, 1e-6, 1.9e-5}, 1e-3);  // wide data may have twice the error
    EXPECT_EQ(to_text(choose().candidate), sample(3));
    record(sample(4), 40);
    EXPECT_EQ(to_text(choose().candidate), sample(3));
}

TEST_F(CandidateChoiceTest, NetworksAskForColdTimesFirstAndLayersForWarmOnes) {
    const auto record_cold = [&](const std::string &candidate, double median) {
        record(candidate, median, "here", "", {1e-7, 1e-8, 1e-7}, 1e-5, CacheMode::cold);
    };
    record(sample(1), 100);
    EXPECT_EQ(to_text(choose(caches_of_networks).candidate), sample(1)) << "warm times say more than none";
    record_cold(sample(2), 200);
    EXPECT_EQ(to_text(choose(caches_of_networks).candidate), sample(2));
    EXPECT_EQ(to_text(choose(caches_of_layers).candidate), sample(1));
    record_cold(sample(3), 50);
    EXPECT_EQ(to_text(choose(caches_of_layers).candidate), sample(1));
}

TEST_F(CandidateChoiceTest, ColdTimesSayMoreOfALayerThanNone) {
    record(sample(1), 100, "here", "", {1e-7, 1e-8, 1e-7}, 1e-5, CacheMode::cold);
    EXPECT_EQ(to_text(choose(caches_of_layers).candidate), sample(1));
}

TEST_F(CandidateChoiceTest, RowsOfTheSameToolchainComeFirst) {
    record(sample(1), 100);
    record(sample(2), 50, "elsewhere");
    EXPECT_EQ(to_text(choose().candidate), sample(1));
}

TEST_F(CandidateChoiceTest, AnothersRowsAreBetterThanNone) {
    record(sample(2), 50, "elsewhere");
    EXPECT_EQ(to_text(choose().candidate), sample(2));
}

TEST_F(CandidateChoiceTest, WhatCannotBeBuiltAnyMoreIsPassedOver) {
    record("direct@999/cpu_tile@1/pixels:3", 10);
    record("gone@1/cpu_tile@1/pixels:3", 20);
    record(sample(1), 100);
    record(sample(2), 90);
    EXPECT_EQ(to_text(choose().candidate), sample(2));
}

TEST_F(CandidateChoiceTest, AlgorithmsAreUsableWhereTheyApplyAndAreAllowed) {
    ChoiceContext context{.target = target_, .machine = machine_};
    EXPECT_FALSE(usable_algorithms(workload_, context)->empty());
    context.algorithms.algorithm = "none*";
    EXPECT_TRUE(usable_algorithms(workload_, context)->empty());
    Workload bytes = workload_;
    bytes.op = Operation::conv_backprop_input, bytes.dtype = bytes.output_dtype = DType::i8;
    const auto refused = usable_algorithms(bytes, context);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace kiln
