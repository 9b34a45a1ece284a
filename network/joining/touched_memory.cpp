#include "network/joining/touched_memory.h"

#include <cstddef>
#include <variant>

#include "workload/signature.h"

namespace kiln::network {

Touched touched(const Step &step) {
    Touched all;
    if (const auto *copy = std::get_if<Copy>(&step.work)) {
        const auto range = [&](const Place &place, int64_t pitch) {
            return Range{place, (copy->rows - 1) * pitch + copy->row_bytes};
        };
        all.reads.push_back(range(copy->from, copy->from_pitch));
        all.result = range(copy->to, copy->to_pitch);
        return all;
    }
    const auto &call = std::get<KernelCall>(step.work);
    const Signature signature = kiln::signature(call.workload);
    for (size_t i = 0; i < call.operands.size(); i++) {
        all.reads.push_back({call.operands[i], signature.operands[i].bytes()});
    }
    all.result = {call.result, signature.result.bytes()};
    return all;
}

}  // namespace kiln::network
