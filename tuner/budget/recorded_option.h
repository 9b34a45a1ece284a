// A recorded kernel as an option of a layer.
#pragma once

#include <cstdint>

#include "records/trial.h"
#include "tuner/budget/kernel_choice.h"

namespace kiln {

// What the counts of a measurement say, for `count` calls; sizes that they lack are 0. Precondition: the measurement is of cycles.
KernelOption recorded_option(const Measurement &measurement, int64_t count);

}  // namespace kiln
