#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// Einsum: sums of products of any number of operands, whose axes have labels, one operand after the other. Two operands are a
// matrix product, or element-wise where no label is summed over. A label that one operand has twice takes its diagonal first.
void einsum(NodeLowering &node);

}  // namespace kiln::graph
