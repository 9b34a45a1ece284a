// Where the algorithms of data movement apply and what they may choose: rows of the catalog. Each operation has one
// algorithm, of its own name.
//
// Std only.
#pragma once

#include "runtime/machine.h"
#include "runtime/result.h"
#include "runtime/target.h"
#include "runtime/workload.h"
#include "schedules/space.h"

namespace kiln {

// Of the algorithm for operation `op`. Precondition: the workload is valid.
Status movement_applies(const Workload &workload, Operation op);
Space movement_space(const Workload &workload, const Target &target, const Machine &machine);

}  // namespace kiln
