// Samples are taken again where the memory changed its speed meanwhile, and not for ever.
#include "tuner/runner/sampling.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

namespace kiln {
namespace {

// `fast` and `slow`: with and without the last cache for oneself.
constexpr MemorySpeed fast{70, 35}, slow{20, 30};

SamplingRequest short_request(std::vector<double> cutoffs_ns = {}) {
    SamplingRequest request{{[] {}, {}}, {}, std::move(cutoffs_ns)};
    request.limits.min_samples = 6, request.limits.max_samples = 12, request.limits.min_total_ns = 0;
    request.limits.unstable_spread = 1e9;
    return request;
}

TEST(Sampling, IsRepeatedWhereTheMemoryMoved) {
    const struct {
        const char *what;
        std::vector<MemorySpeed> readings;  // all that are asked for
        int repeats;
        bool moved;
    } table[] = {
        {"quiet", {fast, fast}, 0, false},
        {"busy all the time", {slow, slow}, 0, false},
        {"a neighbour comes", {fast, slow, slow}, 1, false},
        {"a neighbour goes", {slow, fast, fast}, 1, false},
        {"comes and goes", {fast, slow, fast, fast}, 2, false},
        {"never stands still", {fast, slow, fast, slow}, 2, true},
    };
    for (const auto &row : table) {
        size_t asked = 0;
        SamplingRequest request = short_request();
        request.memory = [&] { return row.readings.at(asked++); };
        const Sampling sampling = take_samples(request);
        EXPECT_EQ(asked, row.readings.size()) << row.what;
        const auto conditions = nlohmann::json::parse(sampling.conditions);
        EXPECT_EQ(conditions.value("memory_repeats", 0), row.repeats) << row.what;
        EXPECT_EQ(conditions.value("memory_moved", false), row.moved) << row.what;
        const auto state = memory_state_of(sampling.conditions);
        ASSERT_TRUE(state) << row.what;
        EXPECT_EQ(*state, (MemoryState{row.readings[asked - 2], row.readings[asked - 1]})) << row.what;
        EXPECT_GE(sampling.samples.size(), 6u) << row.what;
    }
}

TEST(Sampling, KnowsNoMemoryWhereItDoesNotMatter) {
    const Sampling sampling = take_samples(short_request());
    EXPECT_FALSE(memory_state_of(sampling.conditions));
    EXPECT_EQ(sampling.conditions.find("memory"), std::string::npos);
}

TEST(Sampling, OfAKernelThatIsCutOffIsNotRepeated) {
    SamplingRequest request = short_request({1e3});
    request.limits = {};
    double now_ns = 0;
    request.timed.call = [&] { now_ns += 200e3; };
    request.timed.watch = {[&] { return now_ns; }, [] { return 0; }};
    request.limits.unstable_spread = 1e9;
    bool busy = false;
    request.memory = [&] { return std::exchange(busy, !busy) ? slow : fast; };
    const auto conditions = nlohmann::json::parse(take_samples(request).conditions);
    EXPECT_TRUE(conditions.value("cut_off", false));
    EXPECT_EQ(conditions.value("memory_repeats", 0), 0);
    EXPECT_TRUE(conditions.value("memory_moved", false)) << "but it is told";
}

TEST(Sampling, WaitsForABusyMachineWhilePatienceLasts) {
    constexpr size_t for_ever = 99;
    const struct {
        const char *what;
        int64_t patience_ns;
        size_t quiet_after;  // pauses
        size_t pauses;
        int attempts;
        bool is_unstable;
    } table[] = {
        {"quiet", 1'000'000'000, 0, 0, 1, false},
        {"busy, without patience", 0, for_ever, 0, unstable_attempts, true},
        {"busy for a moment", 1'000'000'000, 2, 2, unstable_attempts + 2, false},
        {"busy for ever", 1'000'000'000, for_ever, 3, unstable_attempts + 3, true},
    };
    for (const auto &row : table) {
        std::vector<int64_t> pauses;
        bool is_long = false;
        SamplingRequest request = short_request();
        request.limits = {.min_samples = 12, .max_samples = 12, .unstable_spread = 1};
        double now_ns = 0;
        request.timed.call = [&] {
            is_long = !is_long;
            now_ns += pauses.size() >= row.quiet_after ? 100e3 : is_long ? 500e3 : 20e3;
        };
        request.timed.watch = {[&] { return now_ns; }, [] { return 0; }};
        request.patience_ns = row.patience_ns;
        request.pause_ns = [&](int64_t ns) { pauses.push_back(ns); };
        const Sampling sampling = take_samples(request);
        EXPECT_EQ(sampling.is_unstable, row.is_unstable) << row.what;
        EXPECT_EQ(sampling.attempts, row.attempts) << row.what;
        EXPECT_EQ(pauses.size(), row.pauses) << row.what;
        EXPECT_LE(std::accumulate(pauses.begin(), pauses.end(), int64_t(0)), row.patience_ns) << row.what;
        EXPECT_EQ(nlohmann::json::parse(sampling.conditions).value("retried", false), row.attempts > 1) << row.what;
    }
}

}  // namespace
}  // namespace kiln
