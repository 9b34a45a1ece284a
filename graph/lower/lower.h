// From an ONNX model to a graph of kiln's operators: shapes become static, what depends on constants alone is computed, and
// ONNX's many spellings become few operators.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/lower/node/folding_bounds.h"
#include "graph/onnx/model.h"

namespace kiln::graph {

// The shape that an input has when the network runs, `--shape NAME=1x3x480x480`.
struct InputShape {
    std::string name;
    Shape shape;
};

// An error lists everything that stands in the way, a line each: operators, attributes, opsets and types that kiln does not
// know with the names of their nodes, inputs whose shapes must be stated, names in `shapes` that the model does not have.
Result<Graph> lower(const onnx::Model &model, const std::vector<InputShape> &shapes, const FoldingBounds &bounds = {});

}  // namespace kiln::graph
