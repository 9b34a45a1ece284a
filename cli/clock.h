// Clocks of the command line, and durations as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "workload/result.h"

namespace kiln {

int64_t now_ns();             // steady
std::string utc_timestamp();  // "2026-01-31T12:00:00.123Z"

// "90s", "10m", "1.5h", "1h30m": numbers with units h, m, s; positive, at most a year.
Result<int64_t> parse_duration_ns(std::string_view text);
std::string duration_text(double seconds);  // "45s", "3m05s", "2h10m"

}  // namespace kiln
