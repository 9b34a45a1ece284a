// What can be said of a model's nodes before any shape is known: whether kiln knows them.
#pragma once

#include "graph/lower/problems.h"
#include "graph/lower/rules/rule.h"
#include "graph/onnx/model.h"

namespace kiln::graph {

// The opset that a node's domain has in the model.
int64_t opset_of(const onnx::Model &model, const onnx::Node &node);

// Whether the model's opset of ONNX's own operators is one that kiln knows.
Status check_opset(const onnx::Model &model);

// The rule of a node, or nothing after adding to `problems`: unknown operators and attributes, missing inputs.
const Rule *rule_for(const onnx::Model &model, const onnx::Node &node, Problems *problems);

}  // namespace kiln::graph
