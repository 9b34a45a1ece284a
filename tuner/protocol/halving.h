// How many samples a candidate is worth: successive halving, one candidate at a time (as in Li et al., "A System for
// Massively Parallel Hyperparameter Tuning" (2020), asynchronous successive halving). A measurement climbs rungs of
// more and more samples; at each it ends where it is already known to be slower than the candidates that deserve the
// next. Pure; shared by the tuner, which sets the cutoffs, and the measuring process, which keeps to them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "records/measurement.h"

namespace kiln {

struct Rung {
    size_t samples = 0;
    double total_ns = 0;  // of all samples; both are needed
};
inline constexpr std::array<Rung, 3> rungs = {{{3, 0.3e6}, {6, 2e6}, {12, 6e6}}};

// Cutoffs for the next candidate, ns: one for each rung that has one. The first is a probe, against the best alone; the
// next ones let the faster half of all pass, then the fastest quarter. Whatever is close to the best always passes.
std::vector<double> halving_cutoffs(const std::vector<double> &medians_ns);

// Whether a measurement with these samples ends, because what is needed to tell is there and it is slower than the
// cutoff of the highest rung that it has reached.
bool is_cut_off(const Samples &samples, const std::vector<double> &cutoffs_ns);

}  // namespace kiln
