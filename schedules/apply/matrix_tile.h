// Applies the schedule template `matrix_tile` (knobs: schedules/spaces/matrix/matrix_tile_knobs.h) to the stages of a convolution
// by products of matrices.
#pragma once

#include <Halide.h>

#include "rewrites/conv_loops.h"
#include "schedules/spaces/matrix/matrix_tile_knobs.h"

namespace kiln {

// The stages that the template maps to loops, by their role. Position p is y * row + x (matrix_steps.h).
//   output(c, x, y, z, b, n)     what is stored, a pure function of `sums`
//   sums(lane, p, panel, n)      `products`, in memory
//   products(lane, p, panel, n)  in a tile register. The update reduces over `taps`: channel of a product, product of a tap, s, r
//   rows(c, p, n)                a copy of the padded input, written over `channels`; undefined where it is read in place
struct MatrixStages {
    Halide::Func output, sums{"sums"}, products{"products"}, rows;
    Halide::Var c{"c"}, x{"x"}, y{"y"}, z{"z"}, b{"b"}, n{"n"};
    Halide::Var lane{"lane"}, p{"p"}, panel{"panel"};
    Halide::RDom taps, channels;
};

void apply_matrix_tile(MatrixStages &stages, const MatrixTileKnobs &knobs, const ConvLoops &loops);

}  // namespace kiln
