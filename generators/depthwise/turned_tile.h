// How a tile in registers (schedules/apply/depthwise/turned_tile.h) is turned: what its stages compute.
#pragma once

#include <Halide.h>

#include <vector>

#include "schedules/apply/depthwise/turned_tile.h"

namespace kiln {

// Row and column of place(): what `value` of the first stage is stated with.
Halide::Expr row_of_place(const TurnedTile &tile);
Halide::Expr column_of_place(const TurnedTile &tile);

// Adds the stages. `value` is the element at row and column of the tile that the variables `of` number.
void turn_tile(TurnedTile *tile, const Halide::Expr &value, std::vector<Halide::Var> of);

// The element that was in `row` and `column`, after the tile was turned.
Halide::Expr turned(const TurnedTile &tile, const Halide::Expr &row, const Halide::Expr &column,
                    std::vector<Halide::Expr> of);

}  // namespace kiln
