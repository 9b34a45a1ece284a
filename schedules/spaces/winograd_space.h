// The knobs of the schedule template `winograd`: a batched product of transformed input and weights, block by block of
// tiles. schedules/apply/winograd_apply.h applies them; this half is std only, so the tuner can search it without
// Halide.
//
// The loop nest, outermost first; [n] marks an extent that a knob sets:
//   batch / planes / blocks of tile rows [block_y] / blocks of tile columns [block_x] /
//     transformed input of the block: tiles / vectors of input channels / columns, then rows of a tile
//     blocks of output channels [panel_block] /
//       products of the block: frequencies / panels / register tiles [tiles_y x tiles_x] / input channels [unroll]
//       output transform: tiles / vectors of channels / columns, then rows of a tile, epilogue, guarded stores
// A panel is the output channels of a register tile: [vectors] vectors. A frequency is one of the a x a products of a
// tile. Transformed input and products of a block should stay in the L2 cache together with the weights of a panel.
//
//   points          the interpolation points, a choice of catalog/winograd_matrices.h
//   vectors, tiles_x, tiles_y   the register tile; its sums stay in registers for the whole reduction
//   block_x, block_y   tiles of a block
//   panel_block     panels whose products are held at once
//   tile_major      transformed input: 0: a vector of channels of all tiles together, 1: all channels of a tile
//   stage_rows      1: input is transformed for all blocks of a block row at once; 0: for each block
//   unroll          input channels unrolled in the innermost loop
//   demote          operands of the product stored as bf16: 0 none, 1 weights, 2 both
//   parallel        0: one thread; 1: block rows (and batch, planes) in parallel; 2: blocks of output channels
#pragma once

#include "rewrites/conv_shape.h"
#include "schedules/space.h"
#include "workload/machine.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *winograd_name = "winograd";
inline constexpr int winograd_version = 1;

// What the space does not know of the algorithm: outputs of a tile side, sets of interpolation points.
struct WinogradTransform {
    int m = 2;
    int point_choices = 1;
    bool may_demote = false;  // operands or output are coarse already, and the tile is small
};

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone.
// Precondition: stride and dilation 1 (of input phases, too), one group, a kernel of depth 1.
Space winograd_space(Candidate base, const WinogradTransform &transform, const ConvShape &shape, const Target &target,
                     const Machine &machine);

}  // namespace kiln
