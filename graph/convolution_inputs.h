// What a convolution reads beside its input and its weights.
#pragma once

#include <vector>

#include "graph/operator.h"
#include "workload/signature.h"

namespace kiln::graph {

bool is_quantized(Element x);  // a convolution of it is

struct ConvolutionInput {
    Role role = Role::bias;  // of the workload's operand
    std::string_view name;
    TypedShape form;
};

// In the order of the node's inputs, behind x and w. `result` is the shape of the sums.
std::vector<ConvolutionInput> further_inputs(const Convolution &op, const TypedShape &x, const Shape &result);

}  // namespace kiln::graph
