#include "catalog/operators/nest_algorithm.h"

#include <string>

#include "catalog/tensor_checks.h"
#include "schedules/spaces/nest_tile_space.h"
#include "workload/signature.h"

namespace kiln {

Status nest_applies(std::string_view, const Workload &w, const Target &) {
    if (!is_nest(w.op)) return unsupported("operation " + op_name(w) + " is another one");
    const Signature tensors = signature(w);
    for (const TensorForm &operand : tensors.operands) {
        if (Status s = fits_32_bits(operand); !s) return s;
    }
    return fits_32_bits(tensors.result);
}

Space nest_space(const Candidate &base, const Workload &w, const Target &target, const Core &) {
    return nest_tile_space(base, nest_of(w), target);
}

}  // namespace kiln
