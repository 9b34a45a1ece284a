// Kernels for a soft core one after the other on what is not the simulator, such as the core's hardware description. Each one's
// weights are packed in simulation; then its call becomes a program, and results and instructions of both must be the same.
#pragma once

#include "tuner/protocol/runner_protocol.h"
#include "tuner/runner/steps.h"
#include "workload/workload.h"

namespace kiln {

// One sample for each kernel, in cycles. Precondition: the job has a core and a judge.
RunnerAnswer run_judged_heat(const HeatJob &job, const Workload &workload, const SendLine &send);

// One call of one kernel: its end, unless both computed the same. Precondition: as above.
End run_judged_call(const ExecuteJob &job, const Workload &workload, const SendLine &send);

}  // namespace kiln
