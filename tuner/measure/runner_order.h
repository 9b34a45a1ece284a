// One job for a measuring process: started, given the job, and its answer read.
#pragma once

#include <cstdint>

#include "tuner/build/attempt.h"
#include "tuner/measure/process_runner.h"
#include "tuner/process/child_process.h"
#include "tuner/protocol/runner_protocol.h"
#include "workload/result.h"

namespace kiln {

// A job, and what the measuring process that does it is given.
struct RunnerOrder {
    RunnerJob job;
    bool measures = false;
    OutOfTime out_of_time = {};
    int64_t address_space = 0;  // 0: as much as there is
};

// Errors: nothing was loaded that could be blamed.
Result<Attempt<RunnerAnswer>> ask(const RunnerOrder &order, const ProcessRunnerOptions &options);

// The failure that an answer tells of. Errors: no kernel was loaded that could have done this.
Result<Failure> failure_of(const ChildResult &child, const RunnerAnswer &answer, const ProcessRunnerOptions &options);

}  // namespace kiln
