// Applies the template of matrices (schedules/spaces/movement/move_matrix.h).
#pragma once

#include <Halide.h>

#include <vector>

#include "schedules/spaces/movement/move_matrix.h"

namespace kiln {

// `blocks`: the loops of the output's update, innermost first.
void apply_move_matrix(Halide::Func output, const std::vector<Halide::RVar> &blocks, const MoveMatrixKnobs &knobs);

}  // namespace kiln
