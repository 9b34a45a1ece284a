// Data movement by the template of shuffles: every place of a tile of the result says which place of the loaded tile
// it is.
#pragma once

#include <memory>

#include "generators/movement/movement_kernel.h"
#include "schedules/spaces/movement/move_shuffle.h"

namespace kiln {

std::unique_ptr<MovementKernel> shuffle_kernel(const Movement &moved, const MoveShuffleKnobs &knobs);

}  // namespace kiln
