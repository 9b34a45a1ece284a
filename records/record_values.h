// Whether the values of a record are possible. A row of a file from elsewhere, or a line of an export, may hold anything:
// its id names its content and does not vouch for it. The schema has the same conditions for whoever writes; these are
// for whoever reads.
#pragma once

#include "records/race.h"
#include "records/record.h"
#include "workload/result.h"

namespace kiln {

// How often a list may say that a workload occurs. A sum over thousands of lists still fits 63 bits.
inline constexpr int64_t largest_count = 1'000'000'000'000'000;

// The compilers' and kernels' output that is kept of a trial.
inline constexpr size_t longest_stderr = 16 << 10;

// The error names the record, the field and what it needs.
Status check_values(const WorkloadName &name);
Status check_values(const StoredMeasurement &stored);
Status check_values(const StoredTrial &stored);
Status check_values(const Race &race);

}  // namespace kiln
