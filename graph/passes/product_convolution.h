// A matrix product with a constant as a convolution with a window of 1: rows are pixels, columns are channels.
#pragma once

#include <functional>
#include <optional>

#include "graph/rewriting/rewriting.h"

namespace kiln::graph {

// Adds the convolution to what is read and to its weights, and perhaps more behind it; the result has the convolution's form.
using AddConvolution = std::function<ValueId(Rewriting &, const Convolution &, ValueId x, ValueId weights)>;

// Nothing where neither operand is one constant matrix. The constant's rows or columns become output channels.
std::optional<ValueId> convolved_product(Rewriting &graph, ValueId a, ValueId b, const AddConvolution &add);

// Which operand that is; nothing for none.
enum class ConstantMatrix { left, right };
std::optional<ConstantMatrix> constant_matrix(const Rewriting &graph, ValueId a, ValueId b);

}  // namespace kiln::graph
