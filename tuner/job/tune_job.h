// What a tuning job is given: what it is to do, and what it works with.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "database/trial_store.h"
#include "tuner/build/builder.h"
#include "tuner/measure/runner.h"
#include "tuner/process/leases.h"
#include "workload/lists/workload_list.h"
#include "workload/machine.h"
#include "workload/target.h"

namespace kiln {

inline constexpr int64_t unlimited_trials = std::numeric_limits<int64_t>::max();

struct TuneOptions {
    int64_t trials = 64;                   // a workload, recorded ones counted; unlimited_trials: until time ends
    std::optional<int64_t> time_limit_ns;  // for the whole job
    std::string strategy = "evolutionary";
    uint64_t seed = 1;
    std::string algorithm = "*";  // glob: which algorithms may be used
    std::string without;          // glob: which may not
    double error_budget = default_error_budget;
    CacheMode cache = CacheMode::warm;
    int64_t race_time_ns = 3'000'000'000;  // about, for each workload; 0: no races
};

// The loop works with these. All of them outlive the call.
struct TuneEnvironment {
    Builder &builder;
    Runner &runner;
    TrialStore &store;
    const Machine &machine;
    std::function<int64_t()> now_ns;
    std::function<std::string()> timestamp;  // UTC, ISO 8601 with milliseconds
    std::function<bool()> interrupted;
    bool builds_ahead = false;  // build the next candidate while one is measured: there is a core for it
    Leases leases = {};         // with other processes that tune into the same database
    // What is worth tuning by the times that are recorded now. Asked when each workload has been tried: what is new is tuned
    // beside them, and what is no longer there gets no more trials. None: the workloads of the job are all.
    std::function<Result<std::vector<NamedWorkload>>()> wanted = {};
};

// What all workloads of a job share.
struct TuneJob {
    const Target &target;
    const TuneOptions &options;
    const TuneEnvironment &environment;
};

}  // namespace kiln
