// Permutations of axes: axis i of the result is axis permutation[i] of the input.
#pragma once

#include <vector>

#include "graph/shape.h"

namespace kiln::graph {

using Permutation = std::vector<int>;

Permutation inverse(const Permutation &permutation);
Permutation composed(const Permutation &first, const Permutation &second);  // one Transpose for two in this order
Shape permuted(const Shape &shape, const Permutation &permutation);

// Whether the elements keep their row-major order: only axes with one element change their places.
bool moves_nothing(const Shape &shape, const Permutation &permutation);

}  // namespace kiln::graph
