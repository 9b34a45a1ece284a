// An estimate of which Winograd convolution, if any, is faster than direct sums, for workloads where nothing was measured: cycles
// of one core for products and transforms, beside the fetch of the weights. It takes part in no choice among measured candidates.
//
// Std only.
#pragma once

#include "workload/core.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// Whether F(m, r) is the one to use, of 2 to 5 outputs a tile side. Precondition: winograd_<m> applies.
bool winograd_pays(int m, const Workload &workload, const Target &target, const Core &core);

}  // namespace kiln
