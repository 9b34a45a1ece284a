// Times a call: warms up, takes samples until they say enough, and notes the conditions they were taken under.
//
// Every call that the machine let run is a sample and is kept, outliers too. One that it interrupted for another
// process is no sample; the conditions count them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "records/measurement.h"
#include "records/memory_state.h"
#include "tuner/runner/timing.h"

namespace kiln {

// Samples that spread too much are taken this often.
constexpr int unstable_attempts = 3;

struct SamplingRequest {
    TimedCall timed;
    SamplingLimits limits;
    std::vector<double> cutoffs_ns;  // of rungs, see halving.h
    // How fast memory is just then. Samples between which that changed are taken again, at most `most_memory_repeats`
    // times; the conditions tell how often, and whether it changed still. Empty: it does not matter.
    std::function<MemorySpeed()> memory = {};
};

struct Sampling {
    Samples samples;
    std::string conditions;           // JSON, see Measurement
    std::vector<double> sentinel_ns;  // before and after
    bool is_unstable = false;         // in all of `unstable_attempts`
};
Sampling take_samples(const SamplingRequest &request);

}  // namespace kiln
