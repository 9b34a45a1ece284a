// The inputs of a network with the shapes that they have when it runs: the model's own, or those that the user states; and
// the elements of those that the user makes constants.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "graph/lower/lower.h"
#include "graph/lower/problems.h"

namespace kiln::graph {

struct InputForm {
    std::string_view name;  // the model's
    TypedShape form;
    std::optional<ConstantData> constant;
};

// In the model's order, without those that are constants of the model. One whose form is not known, or whose elements do not
// fit it, is left out and adds to `problems`.
std::vector<InputForm> input_forms(const onnx::Model &model, const StatedInputs &stated, Problems *problems);

}  // namespace kiln::graph
