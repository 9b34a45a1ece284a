#include "schedules/apply/tile_numbers.h"

#include "schedules/apply/extent.h"

namespace kiln {

using namespace Halide;

void compute_numbers(std::vector<Func> &numbers, const NumbersOfTile &tile, const ConvLoops &loops, bool is_whole) {
    const int64_t channels = tile.vectors * tile.lanes;
    if (!is_whole || loops.group_panels || loops.output_block % channels != 0) return;
    const Var lane("lane");
    for (Func &number : numbers) {
        number.compute_at(tile.output, tile.loop)
            .store_in(MemoryType::Register)
            .bound_extent(tile.c, extent(channels))
            .bound_extent(tile.x, extent(tile.columns))
            .bound_extent(tile.y, extent(tile.rows))
            .split(tile.c, tile.c, lane, tile.lanes)
            .reorder(lane, tile.c, tile.x, tile.y)
            .vectorize(lane)
            .unroll(tile.c)
            .unroll(tile.x)
            .unroll(tile.y);
    }
}

}  // namespace kiln
