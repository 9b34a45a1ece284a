// Which algorithm computes a workload for which nothing was measured: one table, first row that applies, each with its
// reason. What the algorithm's schedule is then follows from its template (schedules/spaces/cpu_tile_cases.h for most).
#pragma once

#include <span>
#include <string_view>

#include "workload/core.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

struct AlgorithmRule {
    std::string_view algorithm;
    // Precondition: the algorithm applies to the workload.
    bool (*preferred)(const Workload &, const Target &, const Core &);
    const char *reason;
};

std::span<const AlgorithmRule> algorithm_rules();

}  // namespace kiln
