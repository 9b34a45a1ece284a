#include "tuner/race/paired_ratio.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <random>

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

double estimate(LogRatios heats) {
    double sum = 0;
    for (auto &rounds : heats) sum += median(rounds);
    return sum / static_cast<double>(heats.size());
}

double resampled(const LogRatios &heats, std::mt19937_64 &rng, std::vector<double> &scratch) {
    double sum = 0;
    for (size_t h = 0; h < heats.size(); h++) {
        const std::vector<double> &drawn = heats[rng() % heats.size()];
        scratch.clear();
        for (size_t r = 0; r < drawn.size(); r++) scratch.push_back(drawn[rng() % drawn.size()]);
        sum += median(scratch);
    }
    return sum / static_cast<double>(heats.size());
}

}  // namespace

double ratio_estimate(const Heats &numerator, const Heats &denominator) {
    return std::exp(estimate(log_ratios(numerator, denominator)));
}

RatioInterval paired_ratio(const Heats &numerator, const Heats &denominator, const Bootstrap &bootstrap) {
    const LogRatios heats = log_ratios(numerator, denominator);
    assert(!heats.empty());
    std::mt19937_64 rng(bootstrap.seed);
    std::vector<double> estimates, scratch;
    for (int i = 0; i < bootstrap.resamples; i++) estimates.push_back(resampled(heats, rng, scratch));
    std::sort(estimates.begin(), estimates.end());
    const auto at = [&](double quantile) {
        return estimates[static_cast<size_t>(std::lround(quantile * static_cast<double>(estimates.size() - 1)))];
    };
    const double tail = (1 - bootstrap.confidence) / 2, middle = estimate(heats);
    return {std::exp(middle), std::exp(std::min(at(tail), middle)), std::exp(std::max(at(1 - tail), middle))};
}

}  // namespace kiln
