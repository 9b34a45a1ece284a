// The order in which a package's dispatch tries the kernels of one workload, and the reason. Pure.
//
// A wider vector is not always faster: it may lower the clock or waste lanes. So measured times decide where they can
// be compared, which is when every kernel of the workload was measured on one machine under the same conditions.
// Elsewhere the kernels that need more features of the CPU come first.
#pragma once

#include <vector>

#include "package/package.h"

namespace kiln {

int feature_count(const Target &target);
bool same_conditions(const Measurement &a, const Measurement &b);

// The kernels in the order of the table, with `place` and `why_place` set. They are ordered by key, and those of one
// workload come best first.
std::vector<PackagedKernel> in_table_order(std::vector<PackagedKernel> kernels);

}  // namespace kiln
