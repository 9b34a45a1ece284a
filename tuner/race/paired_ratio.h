// How much longer one kernel takes than another, computed from times that were taken side by side. The functions are
// pure.
//
// Times pair by round: what the machine did in a round happened to both. Rounds come in heats, each a process of its
// own, because where a kernel's memory lies is drawn once a process and shifts all its times: the rounds of
// one heat say nothing about that. So heats are what is counted. Their log ratios are independent draws of about a normal
// distribution, and Student's t gives the interval of the mean ("The probable error of a mean", Biometrika 6, 1908).
// Resampling few heats would not: two that lie on one side by chance can be drawn in no way that crosses 1.
#pragma once

#include <vector>

#include "records/measurement.h"

namespace kiln {

using Heats = std::vector<Samples>;  // a heat's samples: one a round

inline constexpr double ratio_confidence = 0.99;  // more than the usual 0.95, because a race looks after every heat

struct RatioInterval {
    double ratio = 1, lo = 1, hi = 1;  // lo <= ratio <= hi

    bool excludes_one() const { return lo > 1 || hi < 1; }
    bool is_within(double margin) const { return lo >= 1 / (1 + margin) && hi <= 1 + margin; }
};

// The ratio numerator / denominator: the geometric mean over heats of the median over rounds. Heats and rounds count
// where both kernels have them. Precondition: there is one, and times are positive.
double ratio_estimate(const Heats &numerator, const Heats &denominator);

// The same with its interval. Of one heat it says how far rounds differ, and of one round it is a factor of a thousand.
RatioInterval paired_ratio(const Heats &numerator, const Heats &denominator);

}  // namespace kiln
