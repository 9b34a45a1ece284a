// Where a job looks for the fastest kernel of a workload.
#pragma once

#include <vector>

#include "schedules/space.h"
#include "tuner/job/tune_job.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

// The spaces of every algorithm that the job's options allow and that applies, the one to use untuned first. Without any, the
// error says why each was refused.
Result<std::vector<Space>> searched_spaces(const TuneJob &job, const Workload &workload);

}  // namespace kiln
