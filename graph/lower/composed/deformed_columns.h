// The columns of a deformable convolution: what each tap of each window reads, so that a convolution of 1x1 does the rest.
//
// An offset, computed when the network runs, moves each tap away from its pixel, and it reads between pixels. One gather takes as many
// channels side by side as share an offset and a group.
#pragma once

#include <vector>

#include "graph/lower/node/node_lowering.h"
#include "workload/workload.h"

namespace kiln::graph {

struct DeformedWindow {
    std::vector<int64_t> extents, strides, dilations;  // two entries each
    std::vector<Padding> padding;
    int64_t groups = 1;
};

// Of a DeformConv with that window: N, groups x taps x channels of a group, H', W'. Offsets move the taps, and masks multiply them.
ValueId deformed_columns(NodeLowering &node, const DeformedWindow &window);

}  // namespace kiln::graph
