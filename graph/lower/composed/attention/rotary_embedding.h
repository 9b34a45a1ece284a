// RotaryEmbedding: pairs of features are turned by angles that follow from their place in a sequence.
#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// Formulas are those of ONNX's operator (onnx.ai/onnx/operators). Places that are computed when the network runs choose rows of the
// caches by a gather; one outside of them turns to 0.
void rotary_embedding(NodeLowering &node);

// That of the domain com.microsoft, which begins its places where one number says, too.
void rotary_embedding_of_onnxruntime(NodeLowering &node);

}  // namespace kiln::graph
