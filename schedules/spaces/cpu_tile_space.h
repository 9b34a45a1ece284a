// The knobs of the schedule template `cpu_tile`: register tile, blocking, loop order, padding, unrolling, threads.
// schedules/apply/cpu_tile.h applies them; this half is std only, so the tuner can search it without Halide.
//
// The loop nest, outermost first; [n] marks an extent that a knob sets:
//   panel groups / batch / planes / row blocks [row_block] / blocks of x tiles [x_block] / panels [panel_block] /
//   rows of a block / x tiles / kernel planes, rows, columns, input channels [unroll] / register tile
// A panel is the output channels of a register tile: [vectors] vectors. One tile is [rows] x [pixels] outputs of a
// panel. row_block and x_block say how many pixels reuse a panel of weights before the next panel comes; panel_block
// how many panels reuse a block of pixels.
//
//   lanes                   of a vector, where half of the target's fit groups better; without it, the target's
//   vectors, pixels, rows   the register tile; its sums stay in registers for the whole reduction
//   row_block, x_block      tiles of a block of pixels, in rows and in x
//   panel_block             panels that walk over a block of pixels before the next block
//   inline_sum              1: the sum is written out in the output's expression (depthwise)
//   spread                  groups that share a vector: 0: each lane loads its input channel where it is multiplied;
//                           1: inputs are spread over the lanes once for each step of channels and kernel column;
//                           2: once for all columns of a step; 3: the same, shuffled out of dense vectors
//   share_rows              1: the sum runs over the input rows of the tile, each read once for all output rows
//   join_columns            1: a kernel row's columns and channels are one loop over contiguous floats
//   unroll                  input channels unrolled in the innermost loop
//   unroll_columns          1: the kernel's columns too; with unrolled x tiles the tests for padding fold away
//   unroll_rows             1: the kernel's rows too
//   unroll_tiles            1: x tiles of a block unrolled
//   skip_rows               1: kernel rows that fall into the padding are not computed; 0: multiplied by zero
//   stage_input             0: padding tested where the input is read; 1: a padded copy a block of rows; 2: of the
//   whole;
//                           3: a block of rows that keeps the rows it shares with the next (one thread)
//   parallel                0: one thread; 1: row blocks (and batch, planes) in parallel; 2: panel groups
#pragma once

#include "rewrites/conv_shape.h"
#include "schedules/space.h"
#include "workload/machine.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *cpu_tile_name = "cpu_tile";
inline constexpr int cpu_tile_version = 2;

// Lanes of one vector of f32.
int vector_lanes(const Target &target);

// Lanes of the vectors that a candidate of this template is made of.
int tile_lanes(const Candidate &candidate, const Target &target);

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone.
Space cpu_tile_space(Candidate base, const ConvShape &shape, const Target &target, const Machine &machine);

}  // namespace kiln
