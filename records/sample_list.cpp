#include "records/sample_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kiln {

std::string sample_list_text(const std::vector<double> &samples) {
    return fmt::format("[{}]", fmt::join(samples, ","));
}

std::optional<std::vector<double>> parse_sample_list(const std::string &text) {
    if (text.find_first_of("[{", 1) != std::string::npos) return std::nullopt;  // a list of numbers has one level
    const nlohmann::json array = nlohmann::json::parse(text, nullptr, false);
    const bool numbers =
        array.is_array() && std::ranges::all_of(array, [](const auto &item) { return item.is_number(); });
    if (!numbers) return std::nullopt;
    return array.get<std::vector<double>>();
}

bool are_samples(const std::vector<double> &samples) {
    return !samples.empty() && std::ranges::all_of(samples, [](double s) { return std::isfinite(s) && s > 0; });
}

}  // namespace kiln
