// Times a call: warms up, takes samples until they say enough, and notes the conditions they were taken under.
//
// Every call that the machine let run is a sample and is kept, outliers too. One that it interrupted for another
// process is no sample; the conditions count them.
#pragma once

#include <functional>
#include <string>

#include "tuner/measurement.h"

namespace kiln {

struct SamplingRequest {
    std::function<void()> call;
    std::function<void()> before_each;  // not timed; empty for none
    SamplingLimits limits;
};

struct Sampling {
    Samples samples;
    std::string conditions;    // JSON, see Measurement
    bool is_unstable = false;  // twice
};
Sampling take_samples(const SamplingRequest &request);

}  // namespace kiln
