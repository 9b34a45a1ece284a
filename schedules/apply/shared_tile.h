// Applies the schedule template `shared_tile` (knobs: schedules/spaces/scalar/shared_tile_knobs.h).
#pragma once

#include <Halide.h>

#include "schedules/apply/scalar_result.h"
#include "schedules/spaces/scalar/shared_tile_knobs.h"

namespace kiln {

// The stages that the template maps to loops, by their role. Sizes are expressions of what a call is given.
//
//   own(i, c)          a copy of the channel's constants, in registers
//   window(c, x, y)    what a band reads: channels, columns and rows of the input with the padding
//   sum(c, x, y)       its update adds up the taps
struct SharedDepthwiseStages {
    Halide::Func output, own{"own"}, window{"window"}, sum{"sum"};
    ScalarResultStages rounding;
    Halide::Var c{"c"}, x{"x"}, y{"y"}, i{"i"};
    Halide::RDom taps;           // columns, rows
    Halide::Expr columns;        // of the window
    int channels = 1, rows = 1;  // of the window
    int written = 1;             // channels of the window that are copied in one step
};
void apply_shared_depthwise(SharedDepthwiseStages &stages, const SharedTileKnobs &knobs);

//   patch(tap, p, y)    its update finds what pair p of pixels of a row reads
//   both(c, p, y, tap)  products that are added up together
//   sum(c, p, y)        its update adds up the steps
//   output(c, x, y)
struct SharedDenseStages {
    Halide::Func output, patch{"patch"}, both{"both"}, sum{"sum"};
    ScalarResultStages rounding;
    Halide::Var c{"c"}, x{"x"}, y{"y"}, p{"p"}, tap{"tap"};
    Halide::RDom window;  // taps of a row, rows
    Halide::RDom steps;
    Halide::Expr all_taps;
};
void apply_shared_dense(SharedDenseStages &stages, const SharedTileKnobs &knobs);

}  // namespace kiln
