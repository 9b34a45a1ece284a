// The inputs of a network with the shapes that they have when it runs: the model's own, or those that the user states.
#pragma once

#include <string_view>
#include <vector>

#include "graph/lower/lower.h"
#include "graph/lower/problems.h"

namespace kiln::graph {

struct InputForm {
    std::string_view name;  // the model's
    TypedShape form;
};

// In the model's order, without those that are constants. One whose form is not known is left out and adds to `problems`.
std::vector<InputForm> input_forms(const onnx::Model &model, const std::vector<InputShape> &shapes, Problems *problems);

}  // namespace kiln::graph
