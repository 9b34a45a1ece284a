// A tile of a matrix that is turned in registers: rows of vectors become columns of vectors.
#pragma once

#include <Halide.h>

#include <vector>

namespace kiln {

// The stages on the way of a square tile. Each has the dimension `place` innermost, which counts the elements of a tile: first row *
// side + column, and in the last stage column * side + row.
struct TurnedTile {
    int side;
    Halide::Var place{"place"};
    std::vector<Halide::Func> stages;  // loaded, then what shuffles make of it; empty where nothing is turned

    bool defined() const { return !stages.empty(); }
};

// Keeps all stages in registers, at a loop of their consumer in which it needs one tile.
void keep_in_registers(TurnedTile &tile, Halide::Func consumer, const Halide::Var &at);

}  // namespace kiln
