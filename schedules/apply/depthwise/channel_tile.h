// Applies the schedule template `channel_tile` (knobs: schedules/spaces/depthwise/channel_tile_knobs.h) to a depthwise
// convolution's stages.
#pragma once

#include <Halide.h>

#include <vector>

#include "rewrites/conv_loops.h"
#include "schedules/apply/turned/turned_tile.h"
#include "schedules/spaces/depthwise/channel_tile_knobs.h"

namespace kiln {

// The stages that the template maps to loops, by their role. A vector has channels vector * lanes + lane.
//   output(c, x, y, z, b, n)              what is stored, a pure function of `sum`, or of `turned_sums` where the output has
//                                         channels apart: then x counts through all rows, and there is one y
//   turned_sums                           tiles of `sums` on their way to the output
//   sums(lane, x, y, vector, z, n)        the sums of a vector of channels, where they are turned; else undefined
//   sum(lane, x, row, y_tile, vector, z, n)
//                                         y = y_tile * rows + row. Its update reduces over `taps`
//   copy(lane, x, y, vector, z, n)        padded rows of the input; each update writes some of them
//   turned_input                          tiles of the input on their way to `copy`; else undefined
struct ChannelStages {
    // An update of `copy`, and how many columns of it are written together.
    struct Copied {
        Halide::RDom places;         // columns and rows
        int columns = 1, lanes = 1;  // lanes of what memory has side by side
        bool is_turned = false;
    };

    Halide::Func output, sums, sum{"sum"}, copy{"copy"};
    TurnedTile turned_sums, turned_input;
    Halide::Var c{"c"}, b{"b"}, x{"x"}, y{"y"}, z{"z"}, n{"n"};
    Halide::Var lane{"lane"}, vector{"vector"}, row{"row"}, y_tile{"y_tile"}, tile{"tile"};
    Halide::RDom taps;  // (kernel column, row, kernel plane)
    std::vector<Copied> copied;
};

// Whether the last tile of a row computes results that the one before has stored, though the epilogue adds a tensor that may have been
// in their place. For sums that are stored as they are computed.
bool adds_twice(const ChannelTileKnobs &knobs, const ConvLoops &loops);

void apply_channel_tile(ChannelStages &stages, const ChannelTileKnobs &knobs, const ConvLoops &loops, int lanes);

}  // namespace kiln
