// GraphProto: nodes, initializers, inputs and outputs.
#pragma once

#include <memory>
#include <string_view>

#include "graph/onnx/model.h"
#include "graph/onnx/reading.h"

namespace kiln::graph::onnx {

// Adds the node of the message behind the others.
Status add_node(std::string_view message, Body &body, Reading &reading);

// Adds what the message has to the graph of a model. Names are not compared with each other.
Status read_graph(std::string_view message, Body &body, Reading &reading);

// A graph that an attribute holds, its nodes in order.
Result<std::shared_ptr<const Body>> read_body(std::string_view message, Reading &reading);

}  // namespace kiln::graph::onnx
