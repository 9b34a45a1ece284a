// A failure as a recorded trial.
#pragma once

#include "records/trial.h"
#include "tuner/build/attempt.h"

namespace kiln {

// Makes the trial one that failed so. What a time belongs to stays as it is.
void record_failure(const Failure &failure, Trial *trial);

}  // namespace kiln
