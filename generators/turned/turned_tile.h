// How a tile in registers (schedules/apply/turned/turned_tile.h) is turned: what its stages compute. What is loaded as rows of
// columns, a row a channel, becomes vectors of channels, a vector a column; and the other way round.
#pragma once

#include <Halide.h>

#include <vector>

#include "schedules/apply/turned/turned_tile.h"

namespace kiln {

// Row and column of the element that is loaded: what `value` of turn_tile() is stated with.
Halide::Expr loaded_row(const TurnedTile &tile);
Halide::Expr loaded_column(const TurnedTile &tile);

// Adds the stages. `value` is the element at row and column of the tile that the variables `of` number.
void turn_tile(TurnedTile *tile, const Halide::Expr &value, const std::vector<Halide::Var> &of);

// The element that was in `row` and `column`, after the tile was turned.
Halide::Expr turned(const TurnedTile &tile, const Halide::Expr &row, const Halide::Expr &column,
                    const std::vector<Halide::Expr> &of);

}  // namespace kiln
