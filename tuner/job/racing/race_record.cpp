#include "tuner/job/racing/race_record.h"

namespace kiln {

TrialFilter same_conditions(const TuneJob &job, const Workload &workload) {
    return {.workload = key(workload),
            .target = job.target.halide,
            .machine = job.environment.runner.traits().machine,
            .toolchain = job.environment.builder.toolchain(),
            .threads = job.target.threads,
            .cache = job.options.cache,
            .error_budget = job.options.error_budget};
}

Race race_under(const TrialFilter &conditions, const TuneJob &job) {
    Race race;
    race.workload = conditions.workload;
    race.target = conditions.target;
    race.threads = job.target.threads;
    race.machine = conditions.machine;
    race.toolchain = conditions.toolchain;
    race.cache = job.options.cache;
    race.error_budget = job.options.error_budget;
    race.metric = job.environment.runner.traits().metric;
    race.created_at = job.environment.timestamp();
    return race;
}

}  // namespace kiln
