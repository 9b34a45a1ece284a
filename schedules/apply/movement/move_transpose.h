// Applies the template of transposes (schedules/spaces/movement/move_transpose.h).
#pragma once

#include <Halide.h>

#include "schedules/apply/movement/moved_loops.h"
#include "schedules/spaces/movement/move_transpose.h"

namespace kiln {

struct MoveTransposeStages {
    MovedOutput output;
    MovedTile tile;
    int read = -1, written = -1;  // of the loops: the digits of a tile
    Halide::Func fetched;         // over the blocks: what fetches one; undefined where nothing is fetched
};

void apply_move_transpose(const MoveTransposeStages &stages, const MoveTransposeKnobs &knobs);

}  // namespace kiln
