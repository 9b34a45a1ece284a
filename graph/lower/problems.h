// Everything that stands in the way of lowering a model, a line each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph/onnx/model.h"
#include "workload/result.h"

namespace kiln::graph {

class Problems {
public:
    void add(Error error);
    void add(const onnx::Node &node, Error error);  // with the node's name in front

    size_t count() const { return lines_.size(); }
    // All lines up to a number that can be read. The code is `unsupported` where nothing in the model is wrong.
    Error error() const;

private:
    std::vector<std::string> lines_;
    bool all_unsupported_ = true;
};

}  // namespace kiln::graph
