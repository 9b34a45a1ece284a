// Reshapes and transposes of constants, element by element in their own type: weights are large.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace kiln::graph {

// Nothing for other operators. A reshape shares its bytes.
std::optional<ConstantData> moved_constant(const Operator &op, const Value &constant);

}  // namespace kiln::graph
