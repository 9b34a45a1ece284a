// Single operators as workloads.
#pragma once

#include <optional>
#include <vector>

#include "graph/operator.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln::graph {

// An error is the reason why it is none, a few words.
Result<Workload> convolution_workload(const Convolution &op, const TypedShape &x, const TypedShape &weights);

// Where one operand is a single matrix: it is the kernel, rows of the other are pixels.
Result<Workload> product_workload(const TypedShape &a, const TypedShape &b);

// A Reshape to `split`, a Transpose and a Reshape to `output`.
struct Shuffle {
    TypedShape input;
    Shape split;
    std::vector<int> permutation;
    Shape output;
};

// space_to_depth or depth_to_space, where the three are that: N, C, spatial... before and after.
std::optional<Workload> shuffle_workload(const Shuffle &shuffle);

}  // namespace kiln::graph
