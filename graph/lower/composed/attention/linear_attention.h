// ONNX's LinearAttention. Each head has a state of key features x value features, which each step changes and reads.
#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// Formulas are those of ONNX (onnx.ai/onnx/operators), of opset 27. Each step of the sequence is a group of nodes: a
// product of the state with the key where the rule asks what it holds already, one element-wise node for the new state,
// and its product with the queries. Sums are f32 at least, whatever the types of inputs and state.
void linear_attention(NodeLowering &node);

}  // namespace kiln::graph
