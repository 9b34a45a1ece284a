// Applies the schedule template `scalar_tile` (knobs: schedules/spaces/scalar/scalar_tile_knobs.h).
#pragma once

#include <Halide.h>

#include "rewrites/conv_shape.h"
#include "schedules/apply/scalar_result.h"
#include "schedules/spaces/scalar/scalar_tile_knobs.h"

namespace kiln {

// The stages that the template maps to loops, by their role.
//   own(i, c)                  a copy of the channel's constants, in registers
//   sum(c, x, y, zn)           its update adds up the taps
struct ScalarDepthwiseStages {
    Halide::Func output, own{"own"}, sum{"sum"};
    ScalarResultStages rounding;
    Halide::Var c{"c"}, x{"x"}, y{"y"}, zn{"zn"}, i{"i"};
    Halide::RDom taps;  // columns, rows, planes
};
void apply_scalar_depthwise(ScalarDepthwiseStages &stages, const ScalarTileKnobs &knobs, const ConvShape &shape);

//   pixel(tap, p)      what pixel p reads, where pairs are made of it; else undefined
//   patch(tap, p)      what pixel p, or pair p of pixels, reads
//   both(c, p, tap)    products that are added up together, where pixels are paired; else undefined
//   sum(c, p)          its update adds up the steps
//   output(c, p)       p counts pixels
struct ScalarDenseStages {
    Halide::Func output, pixel{"pixel"}, patch{"patch"}, both{"both"}, sum{"sum"};
    ScalarResultStages rounding;
    Halide::Var c{"c"}, p{"p"}, tap{"tap"};
    Halide::RDom window;  // channels, columns, rows and planes, where pixels look for what they read
    Halide::RDom steps;
    bool copies = false;  // patches are copied; else they are read where they lie
};
struct ScalarDenseSizes {
    int taps, panels, width;
    int channels;  // of the input
};
void apply_scalar_dense(ScalarDenseStages &stages, const ScalarTileKnobs &knobs, const ScalarDenseSizes &sizes);

}  // namespace kiln
