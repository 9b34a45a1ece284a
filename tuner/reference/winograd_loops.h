// The loops of the reference for the three Winograd transforms: plain matrix products in double, a tile at a time.
#pragma once

#include <vector>

#include "tuner/reference/convolution_loops.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

// `operand` and the result are in canonical order (workload/signature.h). The magnitude of an element is the product of
// the matrices' and the operand's absolute values. Precondition: a valid Winograd transform. Errors: its matrices are
// not known (unsupported).
Result<Sums> transform_tiles(const Workload &workload, const std::vector<double> &operand);

}  // namespace kiln
