// How a tile in registers (schedules/apply/turned/turned_tile.h) is turned: what its stages compute. What is loaded as rows of
// columns, a row a channel, becomes vectors of channels, a vector a column; and the other way round.
#pragma once

#include <Halide.h>

#include <vector>

#include "schedules/apply/turned/turned_tile.h"

namespace kiln {

// A tile has as many elements as rows times columns, both powers of two.
struct TurnedTileSize {
    int rows = 1, columns = 1;
};

// The stages of a tile that the variables `of` number, with `place` before them. `value` is the element of the first stage, at place
// row * columns + column; in the last stage it is at column * rows + row.
std::vector<Halide::Func> turned_stages(const Halide::Var &place, const TurnedTileSize &size, const Halide::Expr &value,
                                        std::vector<Halide::Var> of);

// Row and column of place(): what `value` of the first stage is stated with.
Halide::Expr row_of_place(const TurnedTile &tile);
Halide::Expr column_of_place(const TurnedTile &tile);

// Adds the stages. `value` is the element at row and column of the tile that the variables `of` number.
void turn_tile(TurnedTile *tile, const Halide::Expr &value, std::vector<Halide::Var> of);

// The element that was in `row` and `column`, after the tile was turned.
Halide::Expr turned(const TurnedTile &tile, const Halide::Expr &row, const Halide::Expr &column,
                    std::vector<Halide::Expr> of);

}  // namespace kiln
