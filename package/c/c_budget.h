// The kernels of a package whose code, stack and workspace have limits: chosen over all layers together
// (tuner/budget/kernel_choice.h) among all that was recorded for each layer, and the default where nothing was.
//
// The sizes of recorded kernels are those of their rows, which prove nothing, and a row has the stack that was used, not the
// most that can be. So what was chosen is built, its sizes take the place of the recorded ones, and the choice is made again
// until it holds.
#pragma once

#include <vector>

#include "package/package_kernels.h"
#include "tuner/budget/kernel_choice.h"
#include "workload/lists/workload_list.h"

namespace kiln {

struct BudgetRequest {
    std::vector<NamedWorkload> workloads;
    Target target;  // a soft core
    MemoryBudget budget;
    std::string work_folder;
    bool needs_all = false;  // one layer without an algorithm is answered alone: no budget helps
};

// The kernels, and reports as of collect_kernels(). Errors (unsupported): nothing meets the budget; the message has the least
// that is possible.
Result<CollectedKernels> collect_within(const BudgetRequest &request, const CollectEnvironment &environment,
                                        const CollectListener &listener);

}  // namespace kiln
