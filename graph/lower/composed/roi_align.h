#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// RoiAlign: each region of an image is cut into bins, and samples between the pixels of a bin are averaged or their greatest is taken.
// Regions may be computed when the network runs, unless the number of samples follows from their sizes (sampling_ratio 0).
void roi_align(NodeLowering &node);

}  // namespace kiln::graph
