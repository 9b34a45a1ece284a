// A heat of a race: kernels that were judged before take turns in one process, in an order drawn anew for each round,
// and each is timed once a round.
#pragma once

#include <vector>

#include "tuner/runner/kernel.h"
#include "tuner/runner/steps.h"
#include "workload/workload.h"

namespace kiln {

// The answer's `heat` has the times, by kernel and round. `kernels` in the order of job.kernels.
RunnerAnswer run_heat(const HeatJob &job, const Workload &workload, const std::vector<LoadedKernel> &kernels,
                      const SendLine &send);

}  // namespace kiln
