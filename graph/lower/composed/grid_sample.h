#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// GridSample: an image at places that are computed when the network runs, N, C, H, W by a grid of N, H', W', 2 with x before y,
// both from -1 to 1. Bilinear or the nearest pixel; what lies outside is 0, the nearest pixel of the border, or a reflection.
void grid_sample(NodeLowering &node);

// AffineGrid: such a grid, of the places that affine maps move the middles of pixels to. `size` is known.
void affine_grid(NodeLowering &node);

}  // namespace kiln::graph
