// Which convolutions multiply the elements of their input as they lie.
#pragma once

#include "graph/operator.h"

namespace kiln::network {

// Whether neither a prologue nor a depthwise convolution in front changes them first.
inline bool has_plain_input(const graph::Convolution &op) { return op.prologue.empty() && op.depthwise.empty(); }

}  // namespace kiln::network
