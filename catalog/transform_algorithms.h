// Where the transforms' algorithms apply and what they may choose: rows of the catalog. Each operation has one
// algorithm, of its own name.
//
// Std only.
#pragma once

#include "workload/machine.h"
#include "workload/result.h"
#include "workload/signature.h"
#include "workload/target.h"
#include "workload/workload.h"
#include "schedules/space.h"

namespace kiln {

// Kernels index with 32 bits.
Status fits_32_bits(const TensorForm &form);

// Of the algorithm for operation `op`. Precondition: the workload is valid.
Status transform_applies(const Workload &workload, Operation op);
Space transform_space(const Workload &workload, const Target &target);

}  // namespace kiln
