// How much longer one kernel takes than another, computed from times that were taken side by side. The functions are
// pure, and their randomness is seeded.
//
// Times pair by round: what the machine did in a round happened to both. Rounds come in heats, each a process of its
// own, because where a kernel's memory lies is drawn once a process and shifts all its times: the rounds of
// one heat say nothing about that. So the interval comes from resampling heats first, then rounds within each (a
// two-level bootstrap; Efron and Tibshirani, "An Introduction to the Bootstrap", for the percentile interval).
#pragma once

#include <cstdint>
#include <vector>

#include "records/measurement.h"

namespace kiln {

using Heats = std::vector<Samples>;  // a heat's samples: one a round

struct Bootstrap {
    double confidence = 0.99;  // more than the usual 0.95, because a race looks after every heat
    int resamples = 1000;
    uint64_t seed = 1;
};

struct RatioInterval {
    double ratio = 1, lo = 1, hi = 1;  // lo <= ratio <= hi

    bool excludes_one() const { return lo > 1 || hi < 1; }
    bool is_within(double margin) const { return lo >= 1 / (1 + margin) && hi <= 1 + margin; }
};

// The ratio numerator / denominator: the geometric mean over heats of the median over rounds. Heats and rounds count
// where both kernels have them. Precondition: there is one, and times are positive.
double ratio_estimate(const Heats &numerator, const Heats &denominator);

// The same with its interval.
RatioInterval paired_ratio(const Heats &numerator, const Heats &denominator, const Bootstrap &bootstrap);

}  // namespace kiln
