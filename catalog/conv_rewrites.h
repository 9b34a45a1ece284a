// The loops with which each algorithm of the catalog computes a convolution. An algorithm gets its rewrite here and nowhere
// else: its conditions, its space and its generators ask this table. What a separable convolution computes in front is
// depthwise_loops() (rewrites/conv_loops.h).
//
// Std only.
#pragma once

#include <string_view>

#include "rewrites/fold.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// Of a separable convolution, those of its part of 1x1. `blocks` are the candidate's; algorithms that do not fold the input ignore
// them. Precondition: what the algorithm's rewrite asks for holds.
ConvLoops loops_of(std::string_view algorithm, const Workload &workload, const Target &target,
                   const Blocks &blocks = {1, 1, 1});

// Whether the algorithm's candidates have blocks.
bool folds_input(std::string_view algorithm);

}  // namespace kiln
