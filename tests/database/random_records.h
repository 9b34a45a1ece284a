// Databases with records drawn at random: every status, texts with all bytes, measurements shared by several trials,
// races, equal names with other counts. Few values of each, so that two databases have much in common.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "database/trial_store.h"
#include "tests/database/sample_records.h"
#include "tests/test_seed.h"

namespace kiln {

class RandomRecords {
public:
    explicit RandomRecords(unsigned seed) : random_(seed) {}

    TrialStore store(int trials) {
        TrialStore store = std::move(*TrialStore::in_memory());
        for (int i = 0; i < trials; ++i) {
            if (below(4) == 0) append_name(store);
            if (below(3) == 0) {
                const Result<std::string> id = store.append(failure(), std::nullopt);
                EXPECT_TRUE(id.ok()) << id.error().message;
                continue;
            }
            const Sample s = success();
            const Result<std::string> id = store.append(s.trial, s.measurement);
            EXPECT_TRUE(id.ok()) << id.error().message;
            if (below(4) == 0) append_race(store, s.trial);
        }
        return store;
    }

private:
    int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
    template<typename T>
    const T &one_of(const std::vector<T> &values) {
        return values[static_cast<size_t>(below(static_cast<int>(values.size())))];
    }
    double real() { return std::exp(std::uniform_real_distribution<double>(-30, 30)(random_)); }
    std::optional<int64_t> number() {
        return below(3) ? std::optional(int64_t{below(1 << 30)} << below(33)) : std::nullopt;
    }
    std::string bytes() {
        std::string text(static_cast<size_t>(below(20)), ' ');
        for (char &c : text) c = static_cast<char>(below(3) ? below(128) : below(256));
        return text;
    }
    std::string time() {
        return "2026-08-1" + std::to_string(below(4)) + "T10:00:00.00" + std::to_string(below(10)) + "Z";
    }
    std::string workload() {
        return one_of<std::string>(
            {"conv2d/input:1x9x9x8/kernel:3x3x8x16", "conv1d/input:1x9x8/kernel:3x8x16", "of a newer kiln"});
    }

    void append_name(TrialStore &store) {
        const Status status = store.name_workload(workload(), one_of<std::string>({"a", "b \"quoted\""}),
                                                  one_of<std::string>({"x", "\xc3\xa4"}), 1 + below(4));
        EXPECT_TRUE(status.ok()) << status.error().message;
    }

    Trial failure() {
        constexpr const char *statuses[] = {"compile_error", "compile_timeout", "crash",    "timeout",
                                            "out_of_memory", "wrong_result",    "unstable", "refused"};
        Trial t = sample_failure(*parse_trial_status(statuses[below(8)]));
        t.workload = workload();
        t.message = "m" + bytes();
        t.stderr_text = bytes();
        t.origin = one_of<std::string>({"", "default", "random"});
        if (below(2)) t.errors.max = below(2) ? real() : std::numeric_limits<double>::infinity();
        t.build_ns = number();
        t.created_at = time();
        return t;
    }

    Sample success() {
        Sample s = sample(static_cast<char>('a' + below(4)), 100 + below(3));
        s.measurement.samples = {real(), 1.0 + below(1000), real() * 1e10};
        if (below(2)) s.measurement = sample(s.trial.candidate.back(), 100).measurement;  // one that others have, too
        s.measurement.conditions = one_of<std::string>({"", "{}", R"({"load":0.5})"});
        s.trial.workload = workload();
        s.trial.errors = {.max = 1e-6 * below(9), .rms = below(2) ? std::optional(real()) : std::nullopt};
        s.trial.workspace_bytes = number();
        s.trial.created_at = time();
        return s;
    }

    void append_race(TrialStore &store, const Trial &like) {
        const std::vector<Trial> trials = *store.trials({.workload = like.workload, .cache = CacheMode::warm});
        std::vector<std::string> ranking;
        for (const Trial &trial : trials) {
            if (trial.status == TrialStatus::ok && ranking.size() < 3) ranking.push_back(trial.id);
        }
        if (ranking.size() < 2) return;
        std::shuffle(ranking.begin(), ranking.end(), random_);
        Race race = sample_race(ranking);
        race.workload = like.workload;
        race.created_at = time();
        for (RaceEntry &entry : race.entries) entry.samples = {real(), real()};
        const Result<std::string> id = store.append(race);
        EXPECT_TRUE(id.ok()) << id.error().message;
    }

    std::mt19937 random_;
};

}  // namespace kiln
