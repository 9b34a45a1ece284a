#include "catalog/operators/transform_algorithms.h"

#include <limits>
#include <string>

#include "catalog/tensor_checks.h"
#include "catalog/winograd_operation.h"
#include "schedules/spaces/transform_tile_space.h"
#include "workload/signature.h"

namespace kiln {

Status transform_applies(std::string_view name, const Workload &w, const Target &) {
    if (op_name(w) != name) return unsupported("operation " + op_name(w) + " is another one");
    if (const auto matrices = winograd_matrices_of(w); !matrices) return matrices.error();
    const Signature tensors = signature(w);
    if (elements(tensors.result.logical) == 0) return unsupported("the result is empty: there is nothing to compute");
    for (const Padding &p : w.padding) {
        if (std::abs(p.lo) + std::abs(p.hi) > std::numeric_limits<int32_t>::max() / 2) {
            return unsupported("padding: coordinates of the padded input need more than 32 bits");
        }
    }
    if (Status s = fits_32_bits(tensors.operands[0]); !s) return s;
    return fits_32_bits(tensors.result);
}

Space transform_space(const Candidate &base, const Workload &w, const Target &target, const Core &) {
    return transform_tile_space(base, transform_shape(w), target);
}

}  // namespace kiln
