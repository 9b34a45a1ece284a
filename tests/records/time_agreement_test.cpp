#include "records/time_agreement.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr const char *quiet = R"({"memory_gb_s":{"l3":[70,70],"dram":[35,35]}})";
constexpr const char *busy = R"({"memory_gb_s":{"l3":[21,21],"dram":[15,15]}})";

Measurement measured(double median, double spread = 0, const char *conditions = "") {
    Measurement m;
    m.machine = "m";
    m.median = median, m.spread = spread, m.conditions = conditions;
    return m;
}

TEST(TimeAgreement, IsWithinATenthOrTheSpread) {
    const struct {
        Measurement recorded, now;
        bool agree;
    } table[] = {
        {measured(100), measured(100), true},       {measured(100), measured(109), true},
        {measured(100), measured(91), true},        {measured(100), measured(111), false},
        {measured(100), measured(89), false},       {measured(100, 0.25), measured(120), true},
        {measured(100), measured(120, 0.25), true}, {measured(645), measured(2061, 0.5), false},
    };
    for (const auto &row : table) EXPECT_EQ(times_agree(row.recorded, row.now), row.agree) << row.now.median;
}

TEST(TimeAgreement, ADifferenceIsToldWithWhatIsKnownOfTheMemory) {
    Measurement elsewhere = measured(2e6);
    elsewhere.machine = "n";
    const struct {
        Measurement recorded, now;
        const char *text;
        bool another;
    } table[] = {
        {measured(1e6, 0, quiet), measured(1.05e6, 0, busy), "", true},
        {measured(1e6), measured(2e6), "1000.0 us when it was recorded, 2000.0 us now", false},
        {measured(1e6, 0, quiet), measured(2e6, 0, busy),
         "1000.0 us when it was recorded, 2000.0 us now: the machine's memory is in another state (then L3 70.0 GB/s, "
         "DRAM 35.0 "
         "GB/s; now L3 21.0 GB/s, DRAM 15.0 GB/s)",
         true},
        {measured(1e6, 0, quiet), measured(2e6, 0, quiet),
         "1000.0 us when it was recorded, 2000.0 us now; the machine's memory is as fast as then (then L3 70.0 GB/s, "
         "DRAM 35.0 "
         "GB/s; now L3 70.0 GB/s, DRAM 35.0 GB/s)",
         false},
        {measured(1e6), measured(2e6, 0, busy),
         "1000.0 us when it was recorded, 2000.0 us now; the state of the machine's memory was not recorded (now L3 "
         "21.0 "
         "GB/s, DRAM 15.0 GB/s)",
         false},
        {measured(1e6), elsewhere, "", false},
    };
    for (const auto &row : table) {
        EXPECT_EQ(difference_text(row.recorded, row.now), row.text);
        EXPECT_EQ(is_memory_another(row.recorded, row.now), row.another) << row.text;
    }
}

TEST(TimeAgreement, CallsThatSpreadAsFarAsBothSayNothing) {
    const auto of = [](std::vector<double> samples, const char *conditions) {
        Measurement m = measured(samples[samples.size() / 2], 0, conditions);
        m.samples = std::move(samples);
        return m;
    };
    const std::vector<double> lucky = {550e3, 560e3, 645e3, 700e3, 1900e3},
                              usual = {1700e3, 1900e3, 2061e3, 2100e3, 2300e3};
    const std::vector<double> fast = {550e3, 560e3, 645e3, 650e3, 660e3};
    const struct {
        const char *what;
        Measurement recorded, now;
        bool overlap;
    } table[] = {
        {"neighbours came and went", of(lucky, quiet), of(usual, quiet), true},
        {"no call ever took so long", of(fast, quiet), of(usual, quiet), false},
        {"what has no state of memory has no such calls", of(lucky, ""), of(usual, ""), false},
        {"and none on one side", of(lucky, quiet), of(usual, ""), false},
    };
    for (const auto &row : table) EXPECT_EQ(do_calls_overlap(row.recorded, row.now), row.overlap) << row.what;
    EXPECT_NE(difference_text(table[0].recorded, table[0].now)
                  .find("single calls 550.0 to 1900.0 us then, 1700.0 to 2300.0 us now"),
              std::string::npos);
    std::vector<double> one_of_many(100, 645e3);
    one_of_many[7] = 2000e3;
    EXPECT_FALSE(do_calls_overlap(of(one_of_many, quiet), of(usual, quiet))) << "a single call is no range";
}

}  // namespace
}  // namespace kiln
