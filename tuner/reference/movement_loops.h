// The loops of the reference for data movement: where each element comes from, by the definition.
#pragma once

#include <vector>

#include "workload/workload.h"

namespace kiln {

// `operand` and the result are in canonical order (workload/signature.h). Precondition: valid data movement.
std::vector<double> move_elements(const Workload &workload, const std::vector<double> &operand);

}  // namespace kiln
