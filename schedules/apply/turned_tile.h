// A tile of a matrix that is turned in registers: rows of vectors become columns of vectors.
#pragma once

#include <Halide.h>

#include <vector>

#include "schedules/turned_side.h"

namespace kiln {

// Elements of a side of a tile, which is square.
inline constexpr int turned_side = turned_tile_side;

// The stages on a tile's way. Each has the dimension `place` innermost, which counts the elements of a tile: first row *
// turned_side + column, and in the last stage column * turned_side + row.
struct TurnedTile {
    Halide::Var place{"place"};
    std::vector<Halide::Func> stages;  // loaded, then what shuffles make of it; empty where nothing is turned

    bool defined() const { return !stages.empty(); }
};

// Keeps all stages in registers, at a loop of their consumer in which it needs one tile.
void keep_in_registers(TurnedTile &tile, Halide::Func consumer, const Halide::Var &at);

}  // namespace kiln
