// TopK: the k greatest or least elements along an axis, and where they are.
#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// Formulas are those of ONNX's operator (onnx.ai/onnx/operators): of equal elements, the one with the lower index comes first. The
// order of elements that are not numbers is not defined. `k` must be known, as an attribute before opset 10, as an input since then.
void top_k(NodeLowering &node);

}  // namespace kiln::graph
