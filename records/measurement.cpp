#include "records/measurement.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace kiln {

namespace {

Samples sorted(const Samples &samples) {
    Samples result = samples;
    std::sort(result.begin(), result.end());
    return result;
}

// Linear interpolation between the two order statistics around the quantile.
double quantile(const Samples &ascending, double q) {
    const double position = q * double(ascending.size() - 1);
    const size_t below = size_t(position);
    const size_t above = std::min(below + 1, ascending.size() - 1);
    return ascending[below] + (position - double(below)) * (ascending[above] - ascending[below]);
}

// Fewer than this say nothing about a spread, however slow the kernel is.
constexpr int fewest_samples = 5;

}  // namespace

Summary summarize(const Samples &samples) {
    assert(!samples.empty());
    const Samples ascending = sorted(samples);
    Summary summary;
    summary.median = quantile(ascending, 0.5);
    summary.min = ascending.front();
    summary.quiet = quantile(ascending, 0.25);
    if (summary.median > 0) {
        summary.spread = (quantile(ascending, 0.75) - summary.quiet) / summary.median;
    }
    return summary;
}

bool enough(const Samples &samples, const SamplingLimits &limits) {
    const int n = int(samples.size());
    const double total_ns = std::accumulate(samples.begin(), samples.end(), 0.0);
    if (n >= limits.max_samples) {
        return true;
    }
    // A kernel that is slow enough to use up the time with few samples is also slow enough for its noise to be small.
    if (total_ns >= limits.max_total_ns && n >= std::min(limits.min_samples, fewest_samples)) {
        return true;
    }
    if (n < std::max(limits.min_samples, 6) || total_ns < limits.min_total_ns) {
        return false;
    }
    const Interval interval = median_interval(samples);
    return (interval.hi - interval.lo) / 2 <= limits.relative_precision * summarize(samples).median;
}

bool unstable(const Samples &samples, const SamplingLimits &limits) {
    return samples.empty() || summarize(samples).spread > limits.unstable_spread;
}

Interval median_interval(const Samples &samples) {
    const int n = int(samples.size());
    assert(n >= 6);
    // The number of samples below the true median is binomial(n, 1/2): mean n/2, deviation sqrt(n)/2.
    const double half_width = 1.96 * std::sqrt(double(n)) / 2;
    const int lower_rank = std::max(1, int(std::floor(n / 2.0 - half_width)));
    const Samples ascending = sorted(samples);
    return {ascending[lower_rank - 1], ascending[n - lower_rank]};
}

}  // namespace kiln
