// Where the transforms' algorithms apply and what they may choose: rows of the catalog. Each operation has one
// algorithm, of its own name.
//
// Std only.
#pragma once

#include <string_view>

#include "schedules/space.h"
#include "workload/core.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// Precondition: the workload is valid.
Status transform_applies(std::string_view name, const Workload &workload, const Target &target);
Space transform_space(const Candidate &base, const Workload &workload, const Target &target, const Core &core);

}  // namespace kiln
