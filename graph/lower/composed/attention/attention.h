// ONNX's Attention.
#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// Formulas are those of ONNX (onnx.ai/onnx/operators), of opsets 23 to 25. The softmax is computed in the type of the queries, or in
// a wider one where they are narrow, whatever `softmax_precision` asks for. `nonpad_kv_seqlen` must be known.
void attention(NodeLowering &node);

}  // namespace kiln::graph
