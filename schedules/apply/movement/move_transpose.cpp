#include "schedules/apply/movement/move_transpose.h"

#include "schedules/apply/extent.h"

namespace kiln {
namespace {

using namespace Halide;

struct Tiling {
    int64_t size, block;
    Var inside;
};

// Tiles along one digit, in blocks: answers the loop over the tiles of a block; that over blocks takes the digit's
// place.
MovedLoop tile_digit(Func output, MovedLoop *whole, const Tiling &t) {
    const int64_t of_block = t.size * t.block;
    MovedLoop tiles{Var(whole->variable.name() + "_tile"), t.block, whole->read_stride * t.size};
    output.split(whole->variable, whole->variable, t.inside, extent(t.size), TailStrategy::GuardWithIf)
        .split(whole->variable, whole->variable, tiles.variable, extent(t.block), TailStrategy::GuardWithIf);
    whole->extent = (whole->extent + of_block - 1) / of_block;
    whole->read_stride *= of_block;
    return tiles;
}

}  // namespace

void apply_move_transpose(const MoveTransposeStages &s, const MoveTransposeKnobs &knobs) {
    Func output = s.output.function, fetched = s.fetched;
    std::vector<MovedLoop> loops = s.output.loops;
    const Var lane("lane"), row("row");
    const MovedLoop read = tile_digit(output, &loops[s.read], {knobs.rows, knobs.block_read, row}),
                    written = tile_digit(output, &loops[s.written], {knobs.lanes, knobs.block_written, lane});
    output.vectorize(lane).unroll(row);
    std::vector<MovedLoop> around = knobs.operand_first ? std::vector{read, written} : std::vector{written, read};
    const size_t over_blocks = around.size();
    const std::vector<MovedLoop> outside = loops_from_inside(loops, knobs.by_operand);
    around.insert(around.end(), outside.begin(), outside.end());
    nest_loops(output, {lane, row}, around);
    // The loops inside of the one that fetches stay with it.
    if (knobs.parallel) share_among_threads(output, around, knobs.fetched ? over_blocks + 1 : 1);
    if (knobs.fetched) {
        fetched.compute_at(output, around[over_blocks].variable);
        for (const Var &block : fetched.args()) fetched.bound_extent(block, 1);
    }
    keep_in_registers(s.tile, output, around.front().variable);
}

}  // namespace kiln
