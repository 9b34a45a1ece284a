// Numbers that are quantized by the range which they have when the network runs (ONNX, DynamicQuantizeLinear).
#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// Numbers of u8 whose range is that of x and 0; where all of x is 0, the scale is 1.
struct DynamicQuanta {
    ValueId numbers = 0, scale = 0, zero_point = 0;  // of one element each but the first
};

DynamicQuanta quantized_dynamically(NodeLowering &node, ValueId x);

// x, quantized by its range and dequantized again.
ValueId rounded_dynamically(NodeLowering &node, ValueId x);

}  // namespace kiln::graph
