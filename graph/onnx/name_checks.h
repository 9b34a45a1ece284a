// What the names of a model must be, so that it is a graph at all.
#pragma once

#include "graph/onnx/model.h"

namespace kiln::graph::onnx {

enum class Surroundings { none, graph };

// Brings nodes into an order in which they can be computed; one that holds already stays. Names that no value of a graph within
// a graph has become its `outer_names`. An error is about names that two values have, that no value has, or that lead in a
// circle; all of them at once, a line each.
Status order_nodes(Body &body, Surroundings surroundings);

// Calls `read` with the name of each value that a node needs: its inputs, and what graphs in its attributes read of the one
// around them. A name may come twice.
template<typename Read>
void each_name_read(const Node &node, Read read) {
    for (const std::string &input : node.inputs) {
        if (!input.empty()) read(input);
    }
    for (const Attribute &attribute : node.attributes) {
        const auto *body = std::get_if<std::shared_ptr<const Body>>(&attribute.value);
        if (!body) continue;
        for (const std::string &name : (*body)->outer_names) read(name);
    }
}

}  // namespace kiln::graph::onnx
