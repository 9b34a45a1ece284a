// Applies the schedule template `step_tile` (knobs: schedules/spaces/depthwise/step_tile_knobs.h) to the stages of a depthwise
// convolution in steps of columns (rewrites/column_steps.h).
#pragma once

#include <Halide.h>

#include <vector>

#include "rewrites/conv_loops.h"
#include "schedules/apply/tile_numbers.h"
#include "schedules/spaces/depthwise/step_tile_knobs.h"

namespace kiln {

// The stages that the template maps to loops, by their role.
//   output(c, x, y, z, b, n)                               what is stored, a pure function of `sum`
//   sum(lane, panel, pixel, x_tile, row, y_tile, z, n)     c = panel * lanes + lane, x = x_tile * pixels + pixel,
//                                                          y = y_tile * rows + row. Its update reduces over `taps`
//   numbers(c, x, y, z, b, n)                              the stages from `sum` to `output` in their order
//   steps(place, block, step, y, z, n)                     of a block of channels, those of a channel after each other
//   pairs(place, block, pair, y, z, n)                     what steps of four parts are made of; else undefined
//   bytes(place, block, pair, y, z, n)                     what pairs are made of within 128 bits; else undefined
//   padded(c, x, y, z, n)                                  the input with its padding. Where it has updates, it is a copy: they
//                                                          write the channels that exist, others are undefined
struct StepStages {
    Halide::Func output, sum{"sum"}, steps{"steps"}, pairs, bytes, padded{"padded"};
    Halide::Var c{"c"}, b{"b"}, x{"x"}, y{"y"}, z{"z"}, n{"n"};
    Halide::Var lane{"lane"}, panel{"panel"}, pixel{"pixel"}, x_tile{"x_tile"}, row{"row"}, y_tile{"y_tile"};
    Halide::Var place{"place"}, block{"block"}, step{"step"}, pair{"pair"};
    TileNumbers numbers;
    Halide::RDom taps;  // part, group, row, plane

    // Channels that an update of `padded` writes, in whole vectors.
    struct Channels {
        Halide::RDom channel;
        int lanes = 1;
    };
    std::vector<Channels> copied;  // by update i
};

// What is made of channels at a time.
struct StepBlock {
    int lanes = 1, parts = 1;
    int channels = 1;  // of a block
};

void apply_step_tile(StepStages &stages, const StepTileKnobs &knobs, const ConvLoops &loops, const StepBlock &block);

}  // namespace kiln
