// In which order a package's dispatch tries the kernels of one workload, and why. Pure.
//
// A wider vector is not always the faster one (it may lower the clock, or waste lanes), so measured times decide
// wherever they can be compared: every kernel of the workload was measured, on one machine under the same conditions.
// Else those that need more features of the CPU come first.
#pragma once

#include <vector>

#include "package/package.h"

namespace kiln {

// The kernels in the order of the table, with `place` and `why_place` set: by key, kernels of one workload best first.
std::vector<PackagedKernel> in_table_order(std::vector<PackagedKernel> kernels);

}  // namespace kiln
