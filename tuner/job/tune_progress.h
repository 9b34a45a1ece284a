// What a tuning job tells while it runs, and what it says of a workload in the end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/trial.h"
#include "workload/lists/workload_list.h"

namespace kiln {

struct RaceSummary {
    size_t entries = 0, ties = 0;  // the winner counts as an entry, not as a tie; 0: there are notes, but no race
    // For people: which times did not hold, which kernels failed when they ran again.
    std::vector<std::string> notes = {};
    std::optional<double> judged = {};  // the winner's cycles on the real core, where the others' come from a model
    bool operator==(const RaceSummary &) const = default;
};

// The state of one workload. The listener gets it after every trial and at the start and the end of a workload.
struct TuneProgress {
    const NamedWorkload *workload = nullptr;
    size_t workload_index = 0, workload_count = 0;
    int64_t trials_done = 0, trials_wanted = 0;  // of this workload
    int64_t failures = 0;                        // of this workload
    double fraction = 0;         // of this workload's trials or the job's time, whichever is nearer its end
    Metric metric = Metric::ns;  // of both, whatever their names say
    std::optional<double> best_ns, default_ns;
    std::string best_candidate;
    std::optional<RaceSummary> race;     // at the end of a workload, where there was one
    std::string problem;                 // at the end of a workload without a valid trial: why
    bool is_empty = false;               // its result has no elements: nothing is tuned, and that is no failure
    std::optional<double> seconds_left;  // of the whole job, estimated
    const Trial *last = nullptr;         // the trial just recorded
    enum class Event {
        workload_started,
        trial_recorded,
        waiting_for_others,  // the trials that are left are other processes' on this database
        workload_finished
    } event = Event::trial_recorded;
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
    bool is_empty = false;                     // its result has no elements: it needs no trial
};

}  // namespace kiln
