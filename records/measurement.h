// From samples to a time: how many are enough, and what they say. Pure; no clock.
//
// The median is the estimate: the minimum rewards lucky runs and the mean punishes a shared machine's outliers. The
// spread is the interquartile range over the median.
#pragma once

#include <cstdint>
#include <vector>

namespace kiln {

using Samples = std::vector<double>;  // ns of one call each, in the order taken

struct Summary {
    double median = 0, min = 0;
    double spread = 0;  // interquartile range / median
    // The lower quartile. Other processes only make calls longer. So where the median was taken among neighbours, this
    // says how fast the kernel might be. It is no estimate; it decides which kernels to look at again.
    double quiet = 0;
};
Summary summarize(const Samples &samples);  // precondition: not empty

// When to stop taking samples.
struct SamplingLimits {
    int min_samples = 15;
    int max_samples = 2000;
    double min_total_ns = 20e6;
    double max_total_ns = 400e6;
    double relative_precision = 0.005;  // half-width of the median's 95 % interval over the median
    double unstable_spread = 0.5;       // more spread than this at the end: status `unstable`
    bool operator==(const SamplingLimits &) const = default;
};
bool enough(const Samples &samples, const SamplingLimits &limits);
bool unstable(const Samples &samples, const SamplingLimits &limits);

// 95 % confidence interval of the median by order statistics (binomial, normal approximation); precondition: at least
// 6 samples.
struct Interval {
    double lo = 0, hi = 0;
};
Interval median_interval(const Samples &samples);

}  // namespace kiln
