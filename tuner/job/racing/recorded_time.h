// The time of a trial as the loop compares it: what its samples say, and the state of the memory that they were taken in.
#pragma once

#include <optional>

#include "records/measurement.h"
#include "records/memory_state.h"
#include "records/trial.h"
#include "tuner/measure/runner.h"

namespace kiln {

struct RecordedTime : Summary {
    std::optional<MemoryState> memory;  // nothing: it does not matter, or was not measured
};

inline RecordedTime recorded_time_of(const Measurement &measurement) {
    return {summarize(measurement.samples), memory_state_of(measurement.conditions)};
}

// What a run measured of the trial's kernel, at a time that is still to be filled in.
Measurement measurement_of(const RunReport &report, const Trial &trial, Metric metric);

}  // namespace kiln
