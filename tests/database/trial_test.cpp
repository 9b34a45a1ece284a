#include "records/trial.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

// These texts are in databases and in other programs' queries.
TEST(TrialNames, AreFrozen) {
    const std::pair<TrialStatus, std::string_view> statuses[] = {
        {TrialStatus::ok, "ok"},
        {TrialStatus::compile_error, "compile_error"},
        {TrialStatus::compile_timeout, "compile_timeout"},
        {TrialStatus::crash, "crash"},
        {TrialStatus::timeout, "timeout"},
        {TrialStatus::out_of_memory, "out_of_memory"},
        {TrialStatus::wrong_result, "wrong_result"},
        {TrialStatus::unstable, "unstable"},
        {TrialStatus::refused, "refused"},
    };
    for (const auto &[status, text] : statuses) {
        EXPECT_EQ(name(status), text);
        EXPECT_EQ(parse_trial_status(text), status);
    }
    const std::pair<CacheMode, std::string_view> modes[] = {{CacheMode::warm, "warm"}, {CacheMode::cold, "cold"}};
    for (const auto &[mode, text] : modes) {
        EXPECT_EQ(name(mode), text);
        EXPECT_EQ(parse_cache_mode(text), mode);
    }
    const std::pair<Metric, std::string_view> metrics[] = {
        {Metric::ns, "ns"}, {Metric::cycles, "cycles"}, {Metric::instructions, "instructions"}};
    for (const auto &[metric, text] : metrics) {
        EXPECT_EQ(name(metric), text);
        EXPECT_EQ(parse_metric(text), metric);
    }
}

TEST(TrialNames, UnknownOnesAreNothing) {
    for (const char *text : {"", "OK", "ok ", "failed", "warm"}) EXPECT_FALSE(parse_trial_status(text)) << text;
    for (const char *text : {"", "Warm", "hot", "ns"}) EXPECT_FALSE(parse_cache_mode(text)) << text;
    for (const char *text : {"", "us", "warm"}) EXPECT_FALSE(parse_metric(text)) << text;
}

}  // namespace
}  // namespace kiln
