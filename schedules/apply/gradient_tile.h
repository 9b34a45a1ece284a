// Applies the schedule template `gradient_tile` (knobs: schedules/spaces/gradient_tile_knobs.h) to the stages of the
// gradient of a kernel.
#pragma once

#include <Halide.h>

#include "rewrites/conv_shape.h"
#include "schedules/spaces/gradient_tile_knobs.h"

namespace kiln {

// The stages that the template maps to loops, by their role. Lanes, vectors and panels are channels of one side;
// `channel` is one of the other side.
//   output(inner, outer, s, r, t)                       the gradient as stored, a pure function of `total`
//   total(lane, vector, panel, channel, s, r, t)        its update adds `part` for every block of rows, plane and image
//   part(lane, vector, panel, channel, s, r, t, block, o, n)   its update sums over the pixels of a block
//   x(c, x, y, z, n), dy(c, x, y, z, n)                 copies of the operands; undefined where they are read in place
struct GradientStages {
    Halide::Func output, total, part, x, dy;
    Halide::Var inner, outer, lane, vector, panel, channel, s, r, t;
    Halide::Var c, px, py, pz, pn;  // of the copies
    Halide::RDom blocks;            // (block, o, n)
    Halide::RDom pixels;            // (q, row of the block)
};

void apply_gradient_tile(GradientStages &stages, const GradientTileKnobs &knobs, const ConvShape &forward);

}  // namespace kiln
