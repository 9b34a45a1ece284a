#include "schedules/apply/scalar_result.h"

namespace kiln {

using namespace Halide;

void unroll_tile(Func &stage, const TileLoops &loops) {
    for (const auto &[loop, size] : loops) stage.bound_extent(loop, size).unroll(loop);
}

void apply_scalar_result(ScalarResultStages &s, const LoopLevel &tile, const TileLoops &loops) {
    unroll_tile(s.result.compute_at(tile).store_in(MemoryType::Register), loops);
    s.result.specialize(s.all_fit);
    const LoopLevel of_general(s.result, Var::outermost());
    unroll_tile(s.copied.compute_at(of_general).store_in(MemoryType::Stack), loops);
    s.general.compute_at(of_general).store_in(MemoryType::Stack);
    for (const auto &[loop, size] : loops) s.general.bound_extent(loop, size);
}

}  // namespace kiln
