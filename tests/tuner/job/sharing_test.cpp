// Several jobs that tune into one database: as processes would, each with a connection and leases of its own.

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>

#include "tests/database/scratch_folder.h"
#include "tests/tuner/job/fake_workshop.h"

namespace kiln {
namespace {

const NamedWorkload first_layer{"net", "a", 1, convolution({1, 56, 56, 64}, {1, 1, 64, 64})};
const NamedWorkload second_layer{"net", "b", 1, convolution({1, 28, 28, 64}, {3, 3, 64, 32})};

class Sharing : public ::testing::Test {
protected:
    std::unique_ptr<FakeWorkshop> shop() {
        auto made = std::make_unique<FakeWorkshop>();
        made->store = std::move(*TrialStore::open(database_, OpenMode::create));
        made->leases = std::move(*Leases::open(database_));
        return made;
    }

    static TuneOptions trials(int64_t n) {
        TuneOptions options;
        options.trials = n;
        options.race_time_ns = 0;
        return options;
    }

    ScratchFolder folder_;
    std::string database_ = folder_ / "shared.db";
};

TEST_F(Sharing, NothingIsTriedTwiceAndNoneTooMany) {
    constexpr int jobs = 4, wanted = 25;
    std::vector<std::unique_ptr<FakeWorkshop>> shops;
    std::vector<Result<TuneReport>> reports(jobs, TuneReport());
    for (int i = 0; i < jobs; i++) shops.push_back(shop());
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < jobs; i++) {
            threads.emplace_back([&, i] {
                reports[size_t(i)] = shops[size_t(i)]->tune({first_layer, second_layer}, trials(wanted));
            });
        }
    }
    int64_t made = 0;
    for (const auto &report : reports) {
        ASSERT_TRUE(report.ok()) << report.error().message;
        ASSERT_EQ(report->workloads.size(), 2u);
        for (const TunedWorkload &tuned : report->workloads) {
            EXPECT_EQ(tuned.trials, wanted) << "those of the others count";
            EXPECT_TRUE(tuned.best_ns);
            made += tuned.new_trials;
        }
        EXPECT_EQ(report->workloads[0].best_candidate, reports[0]->workloads[0].best_candidate) << "all know the best";
    }
    EXPECT_EQ(made, 2 * wanted);
    std::set<std::pair<std::string, std::string>> candidates;
    for (const Trial &trial : shops[0]->trials()) candidates.insert({trial.workload, trial.candidate});
    EXPECT_EQ(candidates.size(), size_t(2 * wanted));
    EXPECT_EQ(shops[0]->trials().size(), size_t(2 * wanted));
}

TEST_F(Sharing, WhatAnotherIsAtIsLeftToIt) {
    auto a = shop(), b = shop();
    int64_t made_by_b = -1;
    a->builder.refuses = [&](size_t n) -> std::optional<TrialStatus> {
        if (n != 1) return std::nullopt;
        // While a builds the default, b makes the other two of three, and then waits until it is interrupted.
        b->interrupted = [&, calls = 0]() mutable { return ++calls > 10; };
        const auto report = b->tune({first_layer}, trials(3));
        EXPECT_TRUE(report.ok() && report->interrupted);
        made_by_b = report->workloads.at(0).new_trials;
        return std::nullopt;
    };
    const auto report = a->tune({first_layer}, trials(3));
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(made_by_b, 2);
    EXPECT_EQ(report->workloads[0].new_trials, 1);
    EXPECT_EQ(report->workloads[0].trials, 3);
    EXPECT_FALSE(std::set<std::string>(b->builder.candidates.begin(), b->builder.candidates.end())
                     .contains(a->builder.candidates[0]));
}

TEST_F(Sharing, AnIdenticalObjectOfAnotherIsNotMeasuredAgain) {
    auto a = shop(), b = shop();
    a->builder.hash = b->builder.hash = [](const std::string &) { return "one"; };
    a->builder.refuses = [&](size_t n) -> std::optional<TrialStatus> {
        if (n == 1) {
            EXPECT_TRUE(b->tune({first_layer}, trials(2)).ok());
        }
        return std::nullopt;
    };
    b->interrupted = [&, calls = 0]() mutable { return ++calls > 10; };
    ASSERT_TRUE(a->tune({first_layer}, trials(4)).ok());
    EXPECT_EQ(b->runner.runs, 1u);
    EXPECT_EQ(a->runner.runs, 1u) << "the first was under way before b's was known; the others are known";
}

TEST_F(Sharing, WhoeverHangsIsNotWaitedForWithoutEnd) {
    auto a = shop(), b = shop();
    a->builder.refuses = [&](size_t) -> std::optional<TrialStatus> {
        // a hangs in its first build; b waits, a minute at each look, and then makes the trial itself.
        b->interrupted = [&] {
            b->clock.ns += 60'000'000'000;
            return false;
        };
        const auto report = b->tune({first_layer}, trials(1));
        EXPECT_TRUE(report.ok());
        EXPECT_EQ(report->workloads.at(0).new_trials, 1);
        EXPECT_TRUE(report->workloads.at(0).best_ns);
        return std::nullopt;
    };
    ASSERT_TRUE(a->tune({first_layer}, trials(1)).ok());
    EXPECT_EQ(a->trials().size(), 2u) << "both are kept";
}

TEST_F(Sharing, OtherConditionsAreNobodyElsesWork) {
    auto a = shop(), b = shop();
    a->builder.refuses = [&](size_t n) -> std::optional<TrialStatus> {
        if (n != 1) return std::nullopt;
        TuneOptions cold = trials(2);
        cold.cache = CacheMode::cold;
        const auto report = b->tune({first_layer}, cold);
        EXPECT_TRUE(report.ok());
        EXPECT_EQ(report->workloads.at(0).new_trials, 2);
        EXPECT_EQ(b->trials().at(0).origin, "default");
        return std::nullopt;
    };
    const auto report = a->tune({first_layer}, trials(2));
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->workloads[0].new_trials, 2);
}

}  // namespace
}  // namespace kiln
