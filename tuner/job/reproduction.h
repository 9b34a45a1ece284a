// Makes a recorded trial again, exactly that one: the same workload, candidate, target, error budget and cache mode, by
// the same way from candidate to trial that tuning takes. Then compares the two, fact by fact.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/memory_state.h"
#include "tuner/job/tune_job.h"

namespace kiln {

struct Reproduction {
    Trial trial;
    std::optional<Measurement> measurement;  // exactly when the trial is ok
};

// A kernel whose time depends on the machine's memory is measured up to three times, until that is in a state like
// `memory`, that of the recorded time. Stores nothing in the environment's store. Errors: the trial's workload, candidate or
// target mean nothing to this kiln or cannot run on this machine (bad_input, unsupported); no builder or runner, or an
// interrupt, as in tune().
Result<Reproduction> reproduce(const Trial &recorded, const TuneEnvironment &environment,
                               const std::optional<MemoryState> &memory = std::nullopt);

struct ReproducedFact {
    std::string what, recorded, now;  // empty: there is none
    std::optional<bool> agrees;       // nothing: not comparable, because one side has none or the machines differ
    bool decides = false;             // whether a trial that differs in it was not reproduced
};

// Status, object, errors and counts decide: they are the same wherever the same toolchain builds. Times do not: they are those
// of a machine at a moment. They agree where the medians differ by at most a tenth, or by the larger spread of the two
// (records/time_agreement.h). Times that differ say nothing where the machine's memory was in another state,
// or where it let single calls take as long as those of the other.
std::vector<ReproducedFact> compare(const Trial &recorded, const std::optional<Measurement> &recorded_measurement,
                                    const Reproduction &now);
bool is_reproduced(const std::vector<ReproducedFact> &facts);

}  // namespace kiln
