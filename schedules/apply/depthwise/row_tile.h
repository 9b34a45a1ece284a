// Applies the schedule template `row_tile` (knobs: schedules/spaces/depthwise/row_tile_knobs.h) to a depthwise convolution's
// stages.
#pragma once

#include <Halide.h>

#include <vector>

#include "rewrites/conv_loops.h"
#include "schedules/apply/turned/turned_tile.h"
#include "schedules/spaces/depthwise/row_tile_knobs.h"
#include "schedules/spaces/depthwise/row_tile_space.h"

namespace kiln {

// Elements of a side of a tile that is turned.
inline constexpr int turned_side = turned_tile_side;

// The stages that the template maps to loops, by their role.
//   output(c, x, y, z, b, n)                   what is stored, a pure function of `in_rows` or else of `sum`; channels c of
//                                              block b
//   in_rows(x, row, y_tile, channel, z, n)    the sums of a block of channels, where the output has channels side by
//                                              side; else undefined
//   sum(in_block, x, row, y_tile, channel, z, n)
//                                              y = y_tile * rows + row. Its update reduces over taps. Where channels share a vector,
//                                              `channel` is a block of them, and in_block one of these; else that is 0, here and below
//   copy(in_block, x, phase, y, channel, z, n)
//                                              padded rows of the input; each update writes some columns of a phase.
//                                              Undefined where rows are read as they lie
//   read(x, tap, y, channel, z, n)             rows as a tap of the kernel's row sees them, with zeros outside; else undefined
//   planes(x, phase, y, channel, z, n)         what `read` reads where a stride, or channels side by side, have neighbours
//                                              apart; else undefined
//   dense(in_block, column, phase, y, channel, z, n)
//                                              rows of the input from `phase` on, whose columns `planes` or `copy` takes apart; or as a tap
//                                              sees them, whose columns `read` does (tap in the place of phase); else undefined
//   turned_input, turned_sums                  tiles of the input's channels on their way to `planes`, and of `in_rows` on
//                                              their way to the output
struct RowStages {
    Halide::Func output, in_rows, sum{"sum"}, copy, read, planes, dense;
    TurnedTile turned_input{turned_side, turned_side}, turned_sums{turned_side, turned_side};
    Halide::Var c{"c"}, b{"b"}, x{"x"}, y{"y"}, z{"z"}, n{"n"};
    Halide::Var in_block{"in_block"}, channel{"channel"}, row{"row"}, y_tile{"y_tile"}, phase{"phase"};
    Halide::Var column{"column"}, tap{"tap"}, c_tile{"c_tile"}, x_tile{"x_tile"};
    Halide::RVar tap_column, tap_row, tap_plane;  // of the reduction: the kernel's columns, rows, the kernel's planes

    // Columns that an update of the copy writes, in whole vectors.
    struct Columns {
        Halide::RDom column;
        int lanes = 1;
    };
    std::vector<Columns> copied;  // by update i of `copy`
};

// Whether the last tile of a row computes results that the one before has stored, though the epilogue adds a tensor that may have been
// in their place. Rows that are turned on their way are stored once.
bool adds_twice(const RowTileKnobs &knobs, const ConvLoops &loops, bool stores_columns);

void apply_row_tile(RowStages &stages, const RowTileKnobs &knobs, const ConvLoops &loops);

}  // namespace kiln
