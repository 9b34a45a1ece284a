// Updates of a value at places that are computed when the network runs. An element is written where its place equals an index: each
// element of the data is compared with the updates that may lead to it, and of those that do, the last one counts, or all are joined.
//
// Negative indices count from the end; an update whose index is outside of its axis writes nothing.
#pragma once

#include <optional>
#include <string_view>

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// How an update is joined with what is there.
struct Joining {
    std::string_view name;  // in ONNX
    Function function;
    Reduce::Kind kind;              // of several updates
    std::optional<double> neutral;  // an update that changes nothing; none: what is there already is one
};

// What the attribute 'reduction' asks for; none where an update takes the place of what is there.
const Joining *joining_of(const NodeLowering &node);

// Of nodes with the inputs data, indices and updates, whose shapes fit: ScatterElements and ScatterND.
ValueId scattered_along(NodeLowering &node, int axis);
ValueId scattered_blocks(NodeLowering &node);

// TensorScatter.
void tensor_scatter(NodeLowering &node);

}  // namespace kiln::graph
