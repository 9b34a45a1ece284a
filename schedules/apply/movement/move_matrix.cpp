#include "schedules/apply/movement/move_matrix.h"

#include <string>

namespace kiln {

using namespace Halide;

// Each thread moves blocks of its own. Their loops are in order as they are: Halide sees no two of them as independent.
void apply_move_matrix(Func output, const std::vector<RVar> &blocks, const MoveMatrixKnobs &knobs) {
    if (!knobs.parallel) return;
    RVar shared = blocks.back();
    for (size_t i = blocks.size() - 1; i-- > 0;) {
        const RVar both("shared_" + std::to_string(i));
        output.update().fuse(blocks[i], shared, both);
        shared = both;
    }
    output.update().allow_race_conditions().parallel(shared);
}

}  // namespace kiln
