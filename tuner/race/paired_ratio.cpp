#include "tuner/race/paired_ratio.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <numeric>

namespace kiln {
namespace {

using LogRatios = std::vector<std::vector<double>>;  // by heat

LogRatios log_ratios(const Heats &numerator, const Heats &denominator) {
    LogRatios heats;
    for (size_t h = 0; h < std::min(numerator.size(), denominator.size()); h++) {
        std::vector<double> rounds;
        for (size_t r = 0; r < std::min(numerator[h].size(), denominator[h].size()); r++) {
            rounds.push_back(std::log(numerator[h][r] / denominator[h][r]));
        }
        if (!rounds.empty()) heats.push_back(std::move(rounds));
    }
    return heats;
}

double median(std::vector<double> &values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::vector<double> by_heat(LogRatios heats) {
    std::vector<double> medians;
    for (auto &rounds : heats) medians.push_back(median(rounds));
    return medians;
}

double mean(const std::vector<double> &values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The 99.5 % quantile of Student's t distribution, by degrees of freedom from 1: those of a 99 % interval. Beyond the
// table, the first two terms of the expansion in 1/degrees (Abramowitz and Stegun, 26.7.5).
double student_t(size_t degrees) {
    static constexpr double table[] = {63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169,
                                       3.106,  3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845};
    if (degrees <= std::size(table)) return table[degrees - 1];
    constexpr double normal = 2.5758;
    return normal + (normal * normal * normal + normal) / (4 * static_cast<double>(degrees));
}

// Half of the interval of the mean of these draws. One draw says nothing of how far others lie from it.
double half_interval(const std::vector<double> &draws) {
    if (draws.size() < 2) return std::log(1000.0);
    const double middle = mean(draws), n = static_cast<double>(draws.size());
    double squares = 0;
    for (const double draw : draws) squares += (draw - middle) * (draw - middle);
    return student_t(draws.size() - 1) * std::sqrt(squares / (n - 1) / n);
}

}  // namespace

double ratio_estimate(const Heats &numerator, const Heats &denominator) {
    return std::exp(mean(by_heat(log_ratios(numerator, denominator))));
}

RatioInterval paired_ratio(const Heats &numerator, const Heats &denominator) {
    const LogRatios heats = log_ratios(numerator, denominator);
    assert(!heats.empty());
    const std::vector<double> medians = by_heat(heats);
    const double middle = mean(medians), half = half_interval(heats.size() == 1 ? heats.front() : medians);
    return {std::exp(middle), std::exp(middle - half), std::exp(middle + half)};
}

}  // namespace kiln
