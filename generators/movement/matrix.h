// Data movement by the template of matrices: a loop over blocks of matrices, each transposed by a call of
// runtime/transpose/matrix_transpose.h.
#pragma once

#include <memory>

#include "generators/movement/movement_kernel.h"
#include "schedules/spaces/movement/move_matrix.h"
#include "workload/target.h"

namespace kiln {

struct MatrixChoice {
    MoveMatrixKnobs knobs;
    bool past_caches = false;  // how the calls store
};

std::unique_ptr<MovementKernel> matrix_kernel(const Movement &moved, const MatrixChoice &choice, const Target &target);

}  // namespace kiln
