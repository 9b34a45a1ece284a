#include "tuner/measure/memory_bound.h"

#include <algorithm>

#include "workload/signature.h"

namespace kiln {
int64_t working_set_bytes(const Workload &workload) {
    const Signature tensors = signature(workload);
    int64_t bytes = tensors.result.bytes();
    for (const TensorForm &operand : tensors.operands) bytes += operand.bytes();
    return bytes;
}

int64_t sentinel_bytes(const Workload &workload, const Machine &machine, int threads) {
    const int64_t bytes = working_set_bytes(workload), own_bytes = machine.l2_bytes * threads;
    if (bytes <= own_bytes) return 0;
    // Half of the last cache: a walk through more is one through memory, whoever else is there.
    return std::min(bytes, std::max(machine.l3_bytes / 2, 2 * machine.l2_bytes));
}

}  // namespace kiln
