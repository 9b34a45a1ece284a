// The elements of a constant in another order of axes, as they are: large weights need no detour through numbers.
#pragma once

#include "graph/constant_data.h"
#include "graph/operator.h"

namespace kiln::graph {

// Precondition: result_of(op, {form}) is no error, and `data` has the bytes for `form`.
ConstantData transposed_bytes(const Transpose &op, const TypedShape &form, const ConstantData &data);

}  // namespace kiln::graph
