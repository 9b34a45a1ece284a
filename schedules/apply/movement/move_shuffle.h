// Applies the template of shuffles (schedules/spaces/movement/move_shuffle.h).
#pragma once

#include <Halide.h>

#include "schedules/apply/movement/moved_loops.h"
#include "schedules/spaces/movement/move_shuffle.h"

namespace kiln {

// The output's loop over `along` covers all that is inside of that digit in the result, too.
struct MoveShuffleStages {
    MovedOutput output;
    MovedTile tile;
    ShuffleForm form;
    Halide::Parameter operand;
};

void apply_move_shuffle(const MoveShuffleStages &stages, const MoveShuffleKnobs &knobs);

}  // namespace kiln
