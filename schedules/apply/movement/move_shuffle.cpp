#include "schedules/apply/movement/move_shuffle.h"

#include <utility>

#include "schedules/apply/extent.h"

namespace kiln {

using namespace Halide;

void apply_move_shuffle(const MoveShuffleStages &s, const MoveShuffleKnobs &knobs) {
    Func output = s.output.function;
    std::vector<MovedLoop> loops = s.output.loops;
    MovedLoop &along = loops[static_cast<size_t>(s.form.along)];
    const int64_t tile = shuffled_tile(s.form, knobs);
    const Var lane("lane"), vector("vector"), in_tile("in_tile");
    output
        .split(along.variable, along.variable, in_tile, extent(tile * s.form.written_stride), TailStrategy::GuardWithIf)
        .split(in_tile, vector, lane, extent(knobs.lanes))
        .vectorize(lane)
        .unroll(vector);
    along.read_stride = tile * s.form.read_stride;
    std::vector<Var> step{lane, vector};
    std::vector<MovedLoop> outside;
    for (size_t d = 0; d < loops.size(); d++) {
        if (!s.form.is_small(static_cast<int>(d))) {
            outside.push_back(loops[d]);
            continue;
        }
        output.unroll(loops[d].variable);
        step.push_back(loops[d].variable);
    }
    const std::vector<MovedLoop> around = loops_from_inside(std::move(outside), knobs.by_operand);
    nest_loops(output, step, around);
    if (knobs.parallel) share_among_threads(output, around, knobs.next_turn ? 2 : 1);
    if (knobs.next_turn) output.prefetch(s.operand, around[1].variable, around[1].variable, 1);
    keep_in_registers(s.tile, output, around.front().variable);
}

}  // namespace kiln
