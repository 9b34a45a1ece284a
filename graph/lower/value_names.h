// Names of a graph's values after those of the model.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace kiln::graph {

// Each value gets the first name that `names` has for it. Others keep theirs, with a number behind it where it is taken.
void name_values(const std::vector<std::pair<std::string_view, ValueId>> &names, Graph *graph);

}  // namespace kiln::graph
