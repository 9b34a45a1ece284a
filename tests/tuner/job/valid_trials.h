// Trials as `tune` writes them, for tests that only care for some of their fields.
#pragma once

#include <string>

#include "database/trial_store.h"

namespace kiln {

// Fills in what every valid trial has and no such test cares for.
inline Trial valid_trial(Trial trial) {
    trial.origin = "random";
    if (trial.errors == ErrorMeasures()) trial.errors = {1e-7, 1e-8, 1e-7};
    trial.object_bytes = 1000;
    trial.packed_bytes = trial.workspace_bytes = trial.workspace_bytes_per_thread = 0;
    trial.build_ns = trial.run_ns = 1;
    trial.created_at = "2026-01-31T12:00:00.123Z";
    return trial;
}

// With one sample of that many ns. Answers the trial's id.
inline Result<std::string> append_valid(TrialStore &store, const Trial &trial, double ns) {
    const Measurement measurement{.object_hash = trial.object_hash,
                                  .machine = trial.machine,
                                  .cache = trial.cache,
                                  .samples = {ns},
                                  .median = ns,
                                  .conditions = "{}",
                                  .created_at = trial.created_at};
    return store.append(trial, measurement);
}

}  // namespace kiln
