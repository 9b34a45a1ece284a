// The schedule template `nest_tile` on Halide stages (schedules/spaces/nest_tile_knobs.h).
#pragma once

#include <Halide.h>

#include <vector>

#include "schedules/spaces/nest_tile_space.h"

namespace kiln {

struct NestStages {
    Halide::Func output;
    std::vector<Halide::Var> loops;  // outermost first

    // For a reduction whose lanes are those of the innermost loop: sum(loops) and its loops.
    Halide::Func sum;
    // For one whose lanes are its own: partial(lane, loops), then total(loops) of the partial sums and of what is left.
    Halide::Func partial, total;
    Halide::Var lane;
    std::vector<Halide::RVar> over, lanes_over;  // outermost first; lanes_over: of the partial sums
    Halide::RVar sums;                           // of the total over the partial sums
    Halide::Func count;                          // of a mean: its terms
    std::vector<Halide::Func> copied;            // copied(innermost loop, ...)
};

void apply_nest_tile(NestStages &stages, const NestTileKnobs &knobs, const NestForm &form, const Target &target);

}  // namespace kiln
