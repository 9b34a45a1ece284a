// Names out of a model in messages: each on one line and of bounded length, whatever the model holds.
#pragma once

#include <string>
#include <string_view>

#include "graph/onnx/model.h"

namespace kiln::graph {

std::string shown(std::string_view name);  // 'name', the middle of a long one left out

// Whether a name may stand in an option that people copy into a shell.
bool is_word(std::string_view name);

// "node 'conv1' (Conv)", or "the Conv node that computes 'y'" where it has no name.
std::string describe(const onnx::Node &node);

// What a graph's node records of the model's node: its name, or where it has none the operator and the first output.
std::string origin(const onnx::Node &node);

}  // namespace kiln::graph
