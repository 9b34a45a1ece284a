// The schedule template `winograd`, the half with Halide: maps knobs (schedules/spaces/winograd/winograd_knobs.h)
// to the stages of a convolution by transforms, which it knows by their role only.
#pragma once

#include <Halide.h>

#include "schedules/apply/tile_numbers.h"
#include "schedules/apply/turned/turned_tile.h"
#include "schedules/spaces/winograd/winograd_rules.h"

namespace kiln {

// lane: channels of a vector; frequency: fy * a(0) + fx; row_frequency: fy alone. All dimensions innermost first.
struct WinogradStages {
    TurnedTile turned_input;      // (.., tile, y, channels, z, n): of rows that are copied, where channels lie apart
    Halide::Func copied_rows;     // (lane, x, y, channels, z, n): with padding, x from 0; undefined without copies
    Halide::Func input_tile;      // (lane, in_tile, in_tile_y, tile_x, tile_y, channels, z, n): with padding, f32
    Halide::Func input_columns;   // (lane, in_tile, row_frequency, tile_x, tile_y, channels, z, n): columns transformed
    Halide::Func transformed;     // (lane, tile_x, tile_y, channels, frequency, z, n): input, rows too
    Halide::Func sum;             // (lane, vector, panel, tile_x, tile_y, frequency, z, n): the reduction, in registers
    Halide::Func products;        // as sum, in memory
    Halide::Func output_columns;  // (c, in_tile, out_row, tile_x, tile_y, z, n): columns transformed back
    Halide::Func output;          // (c, x, y, z, b, n): rows too, epilogue
    TileNumbers numbers;          // (c, x, y, z, b, n): the stages between both
    Halide::Func scattered;       // as output, its values in other places; undefined where output is the result
    int64_t scattered_block = 1;  // channels of one block of it
    Halide::Var lane, vector, panel, tile_x, tile_y, channels, frequency, in_tile, in_tile_y, row_frequency, out_row;
    Halide::Var c, b, x, y, z, n;
    Halide::RDom
        halves_and_channels;  // halves of the output's channels, where a product has one of them; channels of a half
    // Channels of a vector, vectors of input channels; also columns and rows of a block of pixels; or the parts of a step, where
    // the facts say several.
    Halide::RDom taps;
};

void apply_winograd(WinogradStages &stages, const WinogradKnobs &knobs, const WinogradFacts &facts);

// The weights' own transform, once when they are packed.
struct WinogradPackStages {
    Halide::Func columns{"columns"};  // (lane, vector, ci, panel, tap, row_frequency, block): columns transformed
    Halide::Func packed;              // (lane, vector, ci, panel, frequency, block): rows too
    Halide::Var lane{"lane"}, vector{"vector"}, ci{"ci"}, panel{"panel"}, frequency{"frequency"}, block{"block"};
    Halide::Var tap{"tap"}, row_frequency{"row_frequency"};
};

void apply_winograd_pack(WinogradPackStages &stages, const WinogradFacts &facts);

// The same in integers, whose weights come in parts of a step.
struct WinogradPairStages {
    Halide::Func columns{
        "columns"};       // (part, lane, vector, step, tap, row_frequency, panel, block): columns transformed
    Halide::Func packed;  // (part, lane, vector, step, panel, frequency, block): rows too
    Halide::Var part{"part"}, lane{"lane"}, vector{"vector"}, step{"pair"}, panel{"panel"}, frequency{"frequency"},
        block{"block"};
    Halide::Var tap{"tap"}, row_frequency{"row_frequency"};
};

void apply_winograd_pair_pack(WinogradPairStages &stages);

}  // namespace kiln
