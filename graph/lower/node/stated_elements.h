// Numbers that the user states for an input.
#pragma once

#include <vector>

#include "graph/constant_data.h"
#include "graph/shape.h"
#include "workload/result.h"

namespace kiln::graph {

// One number for all elements, or one for each. Errors (bad input): another count, or a number that the type does not hold;
// floats are rounded.
Result<ConstantData> elements_of(std::vector<double> stated, const TypedShape &form);

}  // namespace kiln::graph
