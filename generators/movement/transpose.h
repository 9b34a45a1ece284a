// Data movement by the template of transposes: tiles that are turned in registers.
#pragma once

#include <memory>

#include "generators/movement/movement_kernel.h"
#include "schedules/spaces/movement/move_transpose.h"

namespace kiln {

std::unique_ptr<MovementKernel> transpose_kernel(const Movement &moved, const MoveTransposeKnobs &knobs);

}  // namespace kiln
