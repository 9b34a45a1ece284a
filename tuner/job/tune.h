// The tuning loop: propose, build, run, record; default candidate first. It owns no process, file or clock: those come
// in, so tests feed it fakes.
#pragma once

#include <vector>

#include "tuner/job/tune_job.h"
#include "tuner/job/tune_progress.h"
#include "workload/lists/workload_list.h"

namespace kiln {

struct TuneReport {
    std::vector<TunedWorkload> workloads;
    bool interrupted = false;
    bool out_of_time = false;
    bool at_rest = false;  // ended before its time because no workload gained any more
};

// Tunes each distinct workload, in turn; or where time is limited, whichever is worth it most (tuner/job/budget.h). A
// failed candidate is a recorded trial; an Error means that the job cannot go on (environment). What was recorded
// before stays recorded.
Result<TuneReport> tune(const std::vector<NamedWorkload> &workloads, const Target &target, const TuneOptions &options,
                        TuneEnvironment environment, const TuneListener &listener);

}  // namespace kiln
