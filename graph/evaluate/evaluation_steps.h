// How long evaluate() takes for one operator. What is computed before a network runs is bounded by that: a hostile model asks for
// steps without end with few bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operator.h"

namespace kiln::graph {

// About how many multiplications, comparisons and so on: an input's element is read once, and each of the result takes some. The
// greatest integer where they are more. Preconditions: result_of() gives `result` for these inputs.
int64_t evaluation_steps(const Operator &op, const std::vector<TypedShape> &inputs, const Shape &result);

}  // namespace kiln::graph
