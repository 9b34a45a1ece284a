// Where the algorithms of data movement apply and what they may choose: rows of the catalog. Each operation has one
// algorithm, of its own name.
//
// Std only.
#pragma once

#include "workload/machine.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"
#include "schedules/space.h"

namespace kiln {

// Of the algorithm for operation `op`. Precondition: the workload is valid.
Status movement_applies(const Workload &workload, Operation op);
Space movement_space(const Workload &workload, const Target &target, const Machine &machine);

}  // namespace kiln
