// Numbers in texts that are kept for good: keys of workloads, names of layouts and epilogue steps. No locale, and every
// number has one text that reads back equal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

std::vector<std::string_view> split(std::string_view text, char separator);  // at least one part, which may be empty

// The whole text, or nothing.
std::optional<int64_t> parse_integer(std::string_view text);
std::optional<float> parse_float(std::string_view text);

std::string float_text(float value);  // the shortest

}  // namespace kiln
