// Applies the schedule template `cpu_tile` (knobs: schedules/spaces/cpu_tile_knobs.h) to a convolution's stages.
#pragma once

#include <Halide.h>

#include "rewrites/conv_loops.h"
#include "schedules/apply/tile_numbers.h"
#include "schedules/apply/turned/turned_tile.h"
#include "schedules/spaces/cpu_tile_knobs.h"
#include "workload/target.h"

namespace kiln {

// The side of the tiles that a turned copy is made of: interleaving two vectors of four is one instruction on most targets, of eight
// it is two for each half.
inline constexpr int copied_side = 4;

// The stages of a convolution that the template maps to loops, by their role.
//   output(c, x, y, z, b, n)                            what is stored, a pure function of `sum`; channels c of block b
//   sum(lane, vector, panel, x, row, y_tile, z, n)      c = (panel * vectors + vector) * lanes + lane
//                                                       y = y_tile * rows + row
//                                                       Its update reduces over (ci, s, r, t). It is undefined where the
//                                                       sum is part of the output's expression (inline_sum)
//   spread(lane, ci, vector, panel, x, y, z, n)         the input channel that a lane of a grouped convolution needs;
//                                                       undefined where all lanes need the same
//   dense(lane, vector, panel, x, y, z, n)              the channels of all groups of a vector side by side, which
//                                                       `spread` is shuffled out of; else undefined
//   padded(c, x, y, z, n)                               the input with its padding; undefined where there is none
//   turned_input                                        tiles of the input that `padded` has turned: its x counts from the
//                                                       first column of the padding then; else without stages
//   input                                               what `padded` is read from
//   numbers(c, x, y, z, b, n)                           the stages from `sum` to `output` in their order
//   scattered(c, x, y, z, b, n)                         what is stored where `output` only gathers the sums; else
//                                                       undefined
struct ConvStages {
    Halide::Func output, sum{"sum"}, spread{"spread"}, dense{"dense"}, padded{"padded"}, scattered;
    Halide::ImageParam input;
    TileNumbers numbers;
    TurnedTile turned_input{copied_side, copied_side};
    Halide::Var c{"c"}, b{"b"}, x{"x"}, y{"y"}, z{"z"}, n{"n"};  // of output and padded
    // The dimensions of sum and spread.
    Halide::Var lane{"lane"}, vector{"vector"}, panel{"panel"}, row{"row"}, y_tile{"y_tile"}, ci{"k"};
    // The loops that `unroll` makes of ci.
    Halide::RVar channel_out{"channel_out"}, channel_in{"channel_in"};
    Halide::RDom taps;            // (ci, s, r, t), and the parts of a step where it has several
    int64_t scattered_block = 1;  // channels of one block of `scattered`
};

// Whether the last tile of a row computes results that the one before has stored, though the epilogue adds a tensor that may have been
// in their place.
bool adds_twice(const CpuTileKnobs &knobs, const ConvLoops &shape, const Target &target);

void apply_cpu_tile(ConvStages &stages, const CpuTileKnobs &knobs, const ConvLoops &shape, const Target &target);

}  // namespace kiln
