// The stages between the sums of a register tile and its result (generators/requantize.h), which live in registers.
//
// Each stage is computed for the whole tile before the next one. A requantization is a long chain of instructions that wait for each
// other. Where one result comes after the other, the few dozens of instructions that a processor looks ahead are two or three chains;
// stage by stage they are those of all results.
#pragma once

#include <Halide.h>

#include <vector>

#include "rewrites/conv_loops.h"
#include "schedules/apply/extent.h"

namespace kiln {

// What a generator hands over: the stages in their order, of the output's variables (c, x, y, z, b, n).
struct TileNumbers {
    std::vector<Halide::Func> stages;
    bool read_results = false;  // they read operands that have an element for each result
};

// The results of a register tile: `vectors` of `lanes` channels.
struct TileExtents {
    int lanes = 1;
    int64_t vectors = 1, columns = 1, rows = 1;

    bool divides_image(const ConvLoops &loops) const {
        return loops.output[0] % columns == 0 && loops.output[1] % rows == 0;
    }
};

// Computes the stages of `s.numbers` in `loop` of the output. They are left to the output's own expression where a tile may reach
// behind the channels, as what is read by channel ends there. `is_whole`: neither does it reach behind the columns and rows, or
// nothing is read by them.
template<typename Stages>
void compute_numbers(Stages &s, const Halide::Var &loop, const TileExtents &tile, const ConvLoops &loops,
                     bool is_whole) {
    const int64_t channels = tile.vectors * tile.lanes;
    if (!is_whole || loops.group_panels || loops.output_block % channels != 0) return;
    const Halide::Var lane("lane");
    for (Halide::Func &number : s.numbers.stages) {
        number.compute_at(s.output, loop)
            .store_in(Halide::MemoryType::Register)
            .bound_extent(s.c, extent(channels))
            .bound_extent(s.x, extent(tile.columns))
            .bound_extent(s.y, extent(tile.rows))
            .split(s.c, s.c, lane, tile.lanes)
            .reorder(lane, s.c, s.x, s.y)
            .vectorize(lane)
            .unroll(s.c)
            .unroll(s.x)
            .unroll(s.y);
    }
}

}  // namespace kiln
