// What a convolution does with its input and with its sums.
#pragma once

#include <vector>

#include "graph/evaluate/operator_loops.h"

namespace kiln::graph {

struct SumRange {
    int64_t begin, end;  // elements of the result
    int64_t channel;
};

// The input, N, C, ..., behind a prologue.
std::vector<double> apply_prologue(const Convolution &op, const Task &task);
void apply_epilogue(const std::vector<EpilogueStep> &steps, const Task &task, const SumRange &range);

}  // namespace kiln::graph
