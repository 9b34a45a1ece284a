// Parts of the texts of operators and graphs.
#pragma once

#include <string>

#include "graph/graph.h"

namespace kiln::graph {

// The fields that are not at their default, each with a space before it, but for the shape of the result.
std::string fields_text(const Operator &op);

// A name from outside, on one line: quoted where it has other characters than a name usually has, and shortened in the
// middle where it is long.
std::string name_text(const std::string &name);

std::string form_text(const TypedShape &form);   // "f32 1x3x224x224"
std::string shown_constant(const Value &value);  // "conv1_w[64x3x7x7]"

}  // namespace kiln::graph
