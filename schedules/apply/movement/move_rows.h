// Applies the template of rows (schedules/spaces/movement/move_rows.h).
#pragma once

#include <Halide.h>

#include "schedules/apply/movement/moved_loops.h"
#include "schedules/spaces/movement/move_rows.h"

namespace kiln {

void apply_move_rows(MovedOutput output, const Halide::Parameter &operand, const MoveRowsKnobs &knobs);

}  // namespace kiln
