// Samples as the database stores them: a JSON array of numbers, each in the shortest text that reads back the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kiln {

std::string sample_list_text(const std::vector<double> &samples);
std::optional<std::vector<double>> parse_sample_list(const std::string &text);

// Whether all are positive and finite, and there is at least one.
bool are_samples(const std::vector<double> &samples);

}  // namespace kiln
