// Which workloads' times depend on the memory that the machine's users share: those whose data does not stay in the caches
// of the cores that compute it. Pure.
#pragma once

#include <cstdint>

#include "workload/machine.h"
#include "workload/workload.h"

namespace kiln {

// Bytes of all operands and of the result, as stored.
int64_t working_set_bytes(const Workload &workload);

// How many of these bytes the memory sentinel walks through (records/memory_state.h): all, as far as the last cache may
// hold them. 0 where they stay in the cores' own caches.
int64_t sentinel_bytes(const Workload &workload, const Machine &machine, int threads);

}  // namespace kiln
