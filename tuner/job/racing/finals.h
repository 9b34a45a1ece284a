// The end of a job whose counts come from a model: the few kernels that it counts fewest cycles for run on the real thing, and
// the one with the fewest there wins. A count has no noise, so one call each decides, and intervals have no width.
#pragma once

#include <string>
#include <vector>

#include "records/race.h"
#include "tuner/job/racing/contestant.h"
#include "tuner/measure/runner.h"

namespace kiln {

// The three with the lowest counts, a kernel each, and the winner of the last race. Equal counts: by object size, then by
// candidate.
std::vector<size_t> finalists(const std::vector<Contestant> &contestants, const std::string &incumbent);

// Entries of a race, the fewest cycles first; equal ones in the order of the field. `times`: of the field, a sample each.
std::vector<RaceEntry> final_entries(const std::vector<Contestant> &contestants, const std::vector<size_t> &field,
                                     const std::vector<Samples> &times);

}  // namespace kiln
