// The forms of attention that onnxruntime's optimizer writes, of the domain com.microsoft.
#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// Formulas are those of onnxruntime's docs/ContribOperators.md: MultiHeadAttention of queries, keys and values that are inputs of their
// own, and Attention, which projects its input to all three. A key that a mask leaves out has `mask_filter_value` added, and counts
// again where a mask leaves out all of them.
void multi_head_attention(NodeLowering &node);
void projected_attention(NodeLowering &node);

}  // namespace kiln::graph
