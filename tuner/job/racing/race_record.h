// The conditions under which trials of a job's workload are comparable: as a filter of what is recorded, and as a race to
// record.
#pragma once

#include "records/race.h"
#include "tuner/job/tune_job.h"

namespace kiln {

TrialFilter same_conditions(const TuneJob &job, const Workload &workload);

// A race of now, without entries.
Race race_under(const TrialFilter &conditions, const TuneJob &job);

}  // namespace kiln
