// Which loops each algorithm of the catalog computes a convolution with: the one place where an algorithm gets its
// rewrite, for its conditions, its space and its generators.
//
// Std only.
#pragma once

#include <string_view>

#include "rewrites/fold.h"
#include "workload/workload.h"

namespace kiln {

// `blocks` are those of a candidate that folds the input, as far as the algorithm does. Precondition: the algorithm
// applies, as far as its rewrite asks for something.
ConvLoops loops_of(std::string_view algorithm, const Workload &workload, const Blocks &blocks = {1, 1, 1});

// Whether the algorithm's candidates have blocks.
bool folds_input(std::string_view algorithm);

}  // namespace kiln
