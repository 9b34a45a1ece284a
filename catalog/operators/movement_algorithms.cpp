#include "catalog/operators/movement_algorithms.h"

#include <string>

#include "catalog/tensor_checks.h"
#include "schedules/spaces/movement/move_tile_space.h"
#include "workload/signature.h"

namespace kiln {

Status movement_applies(std::string_view name, const Workload &w, const Target &) {
    if (op_name(w) != name) return unsupported("operation " + op_name(w) + " is another one");
    const Signature tensors = signature(w);
    if (Status s = fits_32_bits(tensors.operands[0]); !s) return s;
    return fits_32_bits(tensors.result);
}

Space movement_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    return move_tile_space(base, movement(w), target, core);
}

}  // namespace kiln
