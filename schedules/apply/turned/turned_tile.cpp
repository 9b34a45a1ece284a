#include "schedules/apply/turned/turned_tile.h"

#include <algorithm>

namespace kiln {

using namespace Halide;

namespace {

// Loads are of four elements: two of them make a vector of both halves while they are loaded.
void keep_halves(TurnedTile &tile, Func &stage, bool is_loaded) {
    stage.bound(tile.lane, 0, 4).bound(tile.half, 0, 2).bound(tile.vector, 0, 8);
    stage.vectorize(tile.lane).unroll(tile.vector);
    is_loaded ? stage.unroll(tile.half) : stage.vectorize(tile.half);
}

// Exchanges of vectors of 16 are in pairs of them: one of half as many elements would read halves of vectors, for which LLVM takes
// more shuffles.
void keep_places(TurnedTile &tile, Func &stage, bool is_loaded) {
    Var vectors("vectors"), lane("lane_in");
    const int longest = std::max(tile.rows, tile.columns),
              width = is_loaded || longest < 16 ? tile.columns : 2 * longest;
    stage.bound(tile.place, 0, tile.rows * tile.columns)
        .split(tile.place, vectors, lane, width)
        .vectorize(lane)
        .unroll(vectors);
}

}  // namespace

void keep_in_registers(TurnedTile &tile, Func consumer, const VarOrRVar &at) {
    for (size_t i = 0; i < tile.stages.size(); i++) {
        Func &stage = tile.stages[i];
        stage.compute_at(LoopLevel(consumer, at)).store_in(MemoryType::Register);
        tile.in_halves() ? keep_halves(tile, stage, i == 0) : keep_places(tile, stage, i == 0);
    }
}

}  // namespace kiln
