// Calls of a model's functions, written out: the nodes of a function in the place of each node that calls it.
#pragma once

#include "graph/onnx/function_reader.h"
#include "graph/onnx/model.h"

namespace kiln::graph::onnx {

// Values of a call are named after its node, as "node/value". An error is about a call that does not fit its function, functions that
// call each other in a circle, and too many nodes. The model's own nodes need be in no order.
Status write_out_calls(const Functions &functions, Model *model);

}  // namespace kiln::graph::onnx
