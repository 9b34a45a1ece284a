#include "cli/clock.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>

namespace kiln {

int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::string utc_timestamp() {
    const auto now = std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                       utc.tm_hour, utc.tm_min, utc.tm_sec, ms);
}

Result<int64_t> parse_duration_ns(std::string_view text) {
    const Error refusal{
        ErrorCode::usage,
        fmt::format("`{}` is not a duration; needs numbers with units, such as 90s, 10m or 1h30m", text)};
    constexpr double year = 365.0 * 24 * 3600;
    double seconds = 0;
    const char *at = text.data(), *end = text.data() + text.size();
    while (at != end) {
        double number = 0;
        const auto [rest, error] = std::from_chars(at, end, number, std::chars_format::fixed);
        if (error != std::errc() || rest == end || !(number >= 0)) return refusal;
        if (*rest == 'h') {
            seconds += 3600 * number;
        } else if (*rest == 'm') {
            seconds += 60 * number;
        } else if (*rest == 's') {
            seconds += number;
        } else {
            return refusal;
        }
        at = rest + 1;
    }
    if (!(seconds > 0) || seconds > year) return refusal;
    return static_cast<int64_t>(seconds * 1e9);
}

std::string duration_text(double seconds) {
    const auto total = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
    if (total < 60) return fmt::format("{}s", total);
    if (total < 3600) return fmt::format("{}m{:02}s", total / 60, total % 60);
    return fmt::format("{}h{:02}m", total / 3600, total % 3600 / 60);
}

}  // namespace kiln
