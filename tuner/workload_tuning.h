// Tunes one workload: which algorithms apply, what is recorded already, default candidates first, then what the search
// proposes, until trials, time or space are used up.
#pragma once

#include <optional>

#include "tuner/candidate_judge.h"
#include "tuner/tune.h"

namespace kiln {

// A span of the job's clock.
struct TimeShare {
    int64_t start_ns = 0, end_ns = 0;
};

struct WorkloadOutcome {
    TunedWorkload tuned;
    enum class End { finished, out_of_time, interrupted } end = End::finished;
};

// `listener` is told everything but the job's own index, count and time left. Errors: the job cannot go on.
Result<WorkloadOutcome> tune_workload(const TuneJob &job, const NamedWorkload &workload,
                                      std::optional<TimeShare> time_share, const TuneListener &listener);

}  // namespace kiln
