#include "schedules/apply/turned/turned_tile.h"

namespace kiln {

using namespace Halide;

void keep_in_registers(TurnedTile &tile, Func consumer, const Var &at) {
    for (Func &stage : tile.stages) {
        Var vector("vector"), lane("lane");
        stage.compute_at(consumer, at)
            .store_in(MemoryType::Register)
            .bound(tile.place, 0, tile.side * tile.side)
            .split(tile.place, vector, lane, tile.side)
            .vectorize(lane)
            .unroll(vector);
    }
}

}  // namespace kiln
