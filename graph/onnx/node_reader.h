// NodeProto and AttributeProto.
#pragma once

#include <string>
#include <string_view>

#include "graph/onnx/model.h"
#include "graph/onnx/reading.h"

namespace kiln::graph::onnx {

// `index` is the node's place in the graph; it stands for a name that is missing. An error names node and attribute.
Result<Node> read_node(std::string_view message, size_t index, Reading &reading);

// How messages name a node: "node 'stem/conv' (Conv)", "node 17 (Conv)".
std::string describe(const Node &node, size_t index);

}  // namespace kiln::graph::onnx
