// Data movement by the template of rows: the definition itself.
#pragma once

#include <memory>

#include "generators/movement/movement_kernel.h"
#include "schedules/spaces/movement/move_rows.h"
#include "workload/workload.h"

namespace kiln {

std::unique_ptr<MovementKernel> rows_kernel(const Workload &workload, const MoveRowsKnobs &knobs);

}  // namespace kiln
