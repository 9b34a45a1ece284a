// Where the axis of images is in what an operator computes.
#pragma once

#include <optional>
#include <vector>

#include "graph/operator.h"
#include "workload/result.h"

namespace kiln::graph {

// Of a value: the axis of images, of extent 1; nothing for a value that is the same for all images.
using BatchAxis = std::optional<int>;

// Of the result, from those of the inputs, of which one has images at least. An error (unsupported) says why it has none: the operator
// joins images, or puts them beside something else.
Result<int> batch_axis_of_result(const Operator &op, const std::vector<TypedShape> &inputs, const Shape &result,
                                 const std::vector<BatchAxis> &axes);

}  // namespace kiln::graph
