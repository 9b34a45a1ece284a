#include "schedules/apply/movement/move_rows.h"

#include "schedules/apply/extent.h"

namespace kiln {

using namespace Halide;

void apply_move_rows(MovedOutput output, const Parameter &operand, const MoveRowsKnobs &knobs) {
    MovedLoop &innermost = output.loops.back();
    std::vector<Var> step;
    if (knobs.lanes > 1) {
        const Var lane("lane");
        output.function
            .split(innermost.variable, innermost.variable, lane, extent(knobs.lanes), TailStrategy::ShiftInwards)
            .vectorize(lane);
        step = {lane};
        innermost.extent = (innermost.extent + knobs.lanes - 1) / knobs.lanes;
        innermost.read_stride *= knobs.lanes;
    }
    const std::vector<MovedLoop> around = loops_from_inside(output.loops, knobs.by_operand);
    nest_loops(output.function, step, around);
    if (knobs.parallel) share_among_threads(output.function, around, knobs.next_turn ? 2 : 1);
    if (knobs.next_turn) output.function.prefetch(operand, around[1].variable, around[1].variable, 1);
}

}  // namespace kiln
