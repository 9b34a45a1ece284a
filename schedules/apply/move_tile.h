// Applies the schedule template `move_tile` (knobs: schedules/spaces/move_tile_space.h) to the stages of a data
// movement.
#pragma once

#include <Halide.h>

#include <vector>

#include "schedules/candidate.h"
#include "schedules/spaces/move_tile_space.h"
#include "workload/target.h"

namespace kiln {

// A loop of the output over one digit, or over what a tile leaves of it.
struct MovedLoop {
    Halide::Var variable;
    int64_t extent = 1, read_stride = 0;
};

// A stage of one tile, over its elements from 0 on, kept in vectors of `lanes` elements.
struct TileStage {
    Halide::Func elements;
    int64_t lanes = 1, count = 0;
};

// The stages of a movement, by their role.
struct MoveStages {
    Halide::Func output;
    std::vector<MovedLoop> loops;  // of the output, as the result lies in memory, outermost first
    int read = -1, written = -1;   // of `loops`: the digits of a tile; of `shuffle` the long one, twice
    std::vector<int> unrolled;     // of `loops`: small digits that a shuffled tile has all of
    std::vector<TileStage> tile;   // what is loaded, then what shuffles make of it
    Halide::Func fetched;          // where `ahead` says so: over the blocks of `transpose`, what fetches one
    Halide::Parameter operand;
    std::vector<Halide::RVar> blocks;  // of `matrix` and `stream`: the loops of the output's update, innermost first
    Halide::Var place;                 // the dimension of a tile's stages that counts elements
};

void apply_move_tile(MoveStages &stages, const Candidate &candidate, const ShuffleForm &form);

}  // namespace kiln
