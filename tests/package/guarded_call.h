// One workload through the C interface, in memory where nothing outside what the interface promises can be touched
// unseen: every buffer lies at a guard page and has the alignment of one element (packed and prepared: the documented
// one), the workspace has exactly kiln_workspace_bytes at an odd address, operands are read-only while a kernel runs,
// and the output is NaN before.
#pragma once

#include "runtime/kiln.h"
#include "tuner/reference/tensor.h"
#include "tuner/runner/guarded_buffer.h"
#include "workload/result.h"

namespace kiln {

struct GuardedCall {
    const kiln_package *package = nullptr;
    const Workload &workload;
    const Operands &operands;
    Placement placement = Placement::end_at_guard;
    int threads = 1;  // above 1: with a pool of the package
};

// Finds the kernel by descriptor and by key, packs, prepares and runs. Errors: what a step refused.
Result<Tensor> run(const GuardedCall &call);

}  // namespace kiln
