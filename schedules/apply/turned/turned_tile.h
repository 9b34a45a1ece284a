// A tile of a matrix that is turned in registers: rows of vectors become columns of vectors.
#pragma once

#include <Halide.h>

#include <vector>

namespace kiln {

// The stages on the way of a tile, whose rows and columns are powers of two. Each begins with the dimensions that number the elements
// of a tile:
//   place                  row * columns + column, and in the last stage column * rows + row
//   lane, half, vector     where the tile is 8x8: in the last stage row = half * 4 + lane, and `vector` is the column
struct TurnedTile {
    int rows = 1, columns = 1;
    Halide::Var place{"place"}, lane{"lane_in"}, half{"half"}, vector{"vector_in"};
    std::vector<Halide::Func> stages{};  // loaded, then what shuffles make of it; empty where nothing is turned

    bool defined() const { return !stages.empty(); }
    // With AVX2 an exchange takes one instruction a vector within 128 bits, and two across them.
    bool in_halves() const { return rows == 8 && columns == 8; }
};

// Keeps all stages in registers, at a loop of their consumer in which it needs one tile.
void keep_in_registers(TurnedTile &tile, Halide::Func consumer, const Halide::VarOrRVar &at);

}  // namespace kiln
