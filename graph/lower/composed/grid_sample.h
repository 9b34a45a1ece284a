#pragma once

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// GridSample: an image, N, C, H, W, or a volume, N, C, D, H, W, at places that are computed when the network runs: a grid of N, H',
// W', 2 with x before y, or N, D', H', W', 3 with z behind them, from -1 to 1. Linear or the nearest pixel, of images also cubic; what
// lies outside is 0, the nearest pixel of the border, or a reflection.
void grid_sample(NodeLowering &node);

// AffineGrid: such a grid, of the places that affine maps move the middles of pixels to. `size` is known.
void affine_grid(NodeLowering &node);

}  // namespace kiln::graph
