// What the measuring process does with a kernel for a soft core. A simulated call gives the same count each time, so one
// call on each data set is judged, and one of them is the sample, in cycles.
#pragma once

#include "tuner/protocol/runner_protocol.h"
#include "tuner/runner/steps.h"

namespace kiln {

// Precondition: the job says which core. Its conditions are JSON with everything that was counted.
RunnerAnswer run_simulated_job(const RunnerJob &job, const SendLine &send);

}  // namespace kiln
