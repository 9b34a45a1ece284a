// What the names of a model must be, so that it is a graph at all.
#pragma once

#include "graph/onnx/model.h"

namespace kiln::graph::onnx {

// Brings nodes into an order in which they can be computed; one that holds already stays. An error is about names that two
// values have, that no value has, or that lead in a circle; all of them at once, a line each.
Status order_nodes(Model &model);

}  // namespace kiln::graph::onnx
