// The loops with which each algorithm of the catalog computes a convolution: its conditions, its space and its generators ask this
// table. Loops that depend on the target have functions of their own (quantized_loops(), matrix_loops()), and so has what a separable
// convolution computes in front (depthwise_loops()).
//
// Std only.
#pragma once

#include <string_view>

#include "rewrites/fold.h"
#include "workload/workload.h"

namespace kiln {

// Of a separable convolution, those of its part of 1x1. `blocks` are the candidate's; algorithms that do not fold the input ignore
// them. Precondition: what the algorithm's rewrite asks for holds.
ConvLoops loops_of(std::string_view algorithm, const Workload &workload, const Blocks &blocks = {1, 1, 1});

// Whether the algorithm's candidates have blocks.
bool folds_input(std::string_view algorithm);

}  // namespace kiln
