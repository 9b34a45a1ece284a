// GraphProto: nodes, initializers, inputs and outputs.
#pragma once

#include <string_view>

#include "graph/onnx/model.h"
#include "graph/onnx/reading.h"

namespace kiln::graph::onnx {

// Adds what the message has to a model. Names are not compared with each other.
Status read_graph(std::string_view message, Model &model, Reading &reading);

}  // namespace kiln::graph::onnx
