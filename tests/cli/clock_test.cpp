#include "cli/clock.h"

#include <gtest/gtest.h>

#include <regex>

namespace kiln {
namespace {

TEST(Clock, ParsesDurations) {
    const struct {
        std::string_view text;
        double seconds;
    } cases[] = {{"90s", 90}, {"10m", 600}, {"1.5h", 5400}, {"1h30m", 5400}, {"1h1m1s", 3661}, {"0.25s", 0.25}};
    for (const auto &c : cases) {
        const auto ns = parse_duration_ns(c.text);
        ASSERT_TRUE(ns.ok()) << c.text;
        EXPECT_EQ(*ns, static_cast<int64_t>(c.seconds * 1e9)) << c.text;
    }
    for (std::string_view text : {"", "10", "m", "-1m", "10 m", "10mm", "0s", "1d", "1e3s", "nans", "inf", "infs",
                                  "99999999h", "10m ", "1h30", "0x10s"}) {
        const auto ns = parse_duration_ns(text);
        ASSERT_FALSE(ns.ok()) << text;
        EXPECT_EQ(ns.error().code, ErrorCode::usage);
        EXPECT_NE(ns.error().message.find("10m"), std::string::npos);
    }
}

TEST(Clock, WritesDurations) {
    const struct {
        double seconds;
        std::string text;
    } cases[] = {{-1, "0s"}, {0.4, "0s"}, {45, "45s"}, {59.6, "1m00s"}, {185, "3m05s"}, {7800, "2h10m"}};
    for (const auto &c : cases) EXPECT_EQ(duration_text(c.seconds), c.text);
}

TEST(Clock, TimestampIsIso8601WithMilliseconds) {
    EXPECT_TRUE(
        std::regex_match(utc_timestamp(), std::regex("20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d\\d\\dZ")));
}

}  // namespace
}  // namespace kiln
