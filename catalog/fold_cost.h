// An estimate of what the space-to-depth rewrite costs beside the direct sum, for workloads where nothing was measured. It
// counts cycles of one core, from the default schedules of both and the sizes of the operands.
//
// The rewrite never saves products: zeros fill the kernel up to whole blocks. It saves work around the products where the
// input has so few channels that the innermost loop over them is short, or where registers wait for loads. It costs a copy
// of the input. Output channels fill the lanes of both, so few input channels leave no lane idle.
//
// Std only.
#pragma once

#include <string>

#include "workload/core.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

struct FoldCost {
    double direct_cycles = 0, folded_cycles = 0, transform_cycles = 0;
    int64_t direct_products = 0, folded_products = 0;  // for one output of one channel
    int64_t direct_loop = 0, folded_loop = 0;          // products of a lane in the body of the innermost loop

    bool pays() const { return folded_cycles + transform_cycles < direct_cycles; }
    std::string explanation() const;
};

// The estimate is for the largest blocks. Precondition: the rewrite applies.
FoldCost fold_cost(const Workload &workload, const Target &target, const Core &core);

}  // namespace kiln
