// The tuning loop: propose, build, run, record; default candidate first. It owns no process, file or clock: those come
// in, so tests feed it fakes.
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

// What the loop works with; all outlive the call.
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
};

struct RaceSummary {
    size_t entries = 0, ties = 0;  // the winner counts as an entry, not as a tie
    bool operator==(const RaceSummary &) const = default;
};

// Where one workload stands; handed to the listener after every trial and at the start and end of a workload.
struct TuneProgress {
    const NamedWorkload *workload = nullptr;
    size_t workload_index = 0, workload_count = 0;
    int64_t trials_done = 0, trials_wanted = 0;  // of this workload
    int64_t failures = 0;                        // of this workload
    double fraction = 0;  // of this workload's trials or the job's time, whichever is nearer its end
    std::optional<double> best_ns, default_ns;
    std::string best_candidate;
    std::optional<RaceSummary> race;     // at the end of a workload, where there was one
    std::string problem;                 // at the end of a workload without a valid trial: why
    std::optional<double> seconds_left;  // of the whole job, estimated
    const Trial *last = nullptr;         // the trial just recorded
    enum class Event { workload_started, trial_recorded, workload_finished } event = Event::trial_recorded;
};
using TuneListener = std::function<void(const TuneProgress &)>;

struct TunedWorkload {
    NamedWorkload workload;
    std::optional<double> best_ns, default_ns;
    std::string best_candidate;  // the race's winner, where there was one
    std::optional<RaceSummary> race;
    int64_t trials = 0, failures = 0;          // recorded ones included
    int64_t new_trials = 0, new_failures = 0;  // of this job
    std::string problem;                       // why there is no valid trial; empty otherwise
};

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
