// What the space-to-depth rewrite is estimated to cost beside the direct sum, where nothing was measured: cycles of one
// core, from the default schedules of both and the sizes of the operands.
//
// Folding never saves products: zeros fill the kernel up to whole blocks. What it can save is work around them, where
// the innermost loop over the channels of an image's few is short, or registers wait for loads; and it pays for a copy
// of the input. Lanes are filled by output channels in either, so few input channels leave none idle.
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
    int64_t direct_products = 0, folded_products = 0;  // a output of one channel
    int64_t direct_loop = 0, folded_loop = 0;          // products of the innermost loop's body, a lane

    bool pays() const { return folded_cycles + transform_cycles < direct_cycles; }
    std::string explanation() const;
};

// With the largest blocks. Precondition: the rewrite applies.
FoldCost fold_cost(const Workload &workload, const Target &target, const Core &core);

}  // namespace kiln
