// Where depthwise convolutions in vectors of columns apply, and their space: a row of the catalog.
#pragma once

#include <string_view>

#include "schedules/space.h"
#include "workload/core.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// Depthwise convolutions, and gradients of their inputs, between activations of which one has contiguous rows.
Status depthwise_rows_applies(std::string_view name, const Workload &w, const Target &target);
Space depthwise_rows_space(const Candidate &base, const Workload &w, const Target &target, const Core &core);

}  // namespace kiln
