// Times a call: warms up, takes samples until they say enough, and notes the conditions they were taken under.
//
// Every call that the machine let run is a sample and is kept, outliers too. One that it interrupted for another
// process is no sample; the conditions count them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "records/measurement.h"
#include "records/memory_state.h"
#include "tuner/runner/timing.h"

namespace kiln {

// Samples that spread too much are taken this often, and again after pauses while patience lasts.
constexpr int unstable_attempts = 3;

// Sleeps that long.
void sleep_ns(int64_t ns);

struct SamplingRequest {
    TimedCall timed;
    SamplingLimits limits;
    std::vector<double> cutoffs_ns;  // of rungs, see halving.h
    int64_t patience_ns = 0;         // for a machine that is too busy: pauses and attempts after them
    // How fast memory is just then. Samples between which that changed are taken again, at most `most_memory_repeats`
    // times; the conditions tell how often, and whether it changed still. Empty: it does not matter.
    std::function<MemorySpeed()> memory = {};
    std::function<void(int64_t)> pause_ns = sleep_ns;
};

struct Sampling {
    Samples samples;
    std::string conditions;           // JSON, see Measurement
    std::vector<double> sentinel_ns;  // before and after
    int attempts = 0;                 // the last of which gave these samples
    bool is_unstable = false;         // in all of them
};
Sampling take_samples(const SamplingRequest &request);

}  // namespace kiln
