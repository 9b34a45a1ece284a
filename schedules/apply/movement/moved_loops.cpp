#include "schedules/apply/movement/moved_loops.h"

#include <algorithm>
#include <string>

#include "schedules/apply/extent.h"

namespace kiln {

using namespace Halide;

std::vector<MovedLoop> loops_from_inside(std::vector<MovedLoop> loops, bool by_operand) {
    std::reverse(loops.begin(), loops.end());
    if (by_operand) {
        std::stable_sort(loops.begin(), loops.end(),
                         [](const MovedLoop &a, const MovedLoop &b) { return a.read_stride < b.read_stride; });
    }
    return loops;
}

void nest_loops(Func output, const std::vector<Var> &step, const std::vector<MovedLoop> &around) {
    std::vector<VarOrRVar> order(step.begin(), step.end());
    for (const MovedLoop &loop : around) order.push_back(loop.variable);
    output.reorder(order);
}

void share_among_threads(Func output, const std::vector<MovedLoop> &around, size_t innermost) {
    constexpr int64_t turns = 64;
    Var shared = around.back().variable;
    int64_t count = around.back().extent;
    for (size_t i = around.size() - 1; i-- > innermost && count < turns;) {
        Var both("shared_" + std::to_string(i));
        output.fuse(around[i].variable, shared, both);
        count *= around[i].extent;
        shared = both;
    }
    output.parallel(shared);
}

void keep_in_registers(const MovedTile &tile, Func output, const Var &at) {
    for (const TileStage &stage : tile.stages) {
        Var vector("vector"), lane("lane");
        Func(stage.elements)
            .compute_at(output, at)
            .store_in(MemoryType::Register)
            .bound(tile.place, 0, extent(stage.count))
            .split(tile.place, vector, lane, extent(stage.lanes))
            .vectorize(lane)
            .unroll(vector);
    }
}

}  // namespace kiln
