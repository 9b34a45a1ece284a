// The matrices that define a Winograd transform operation: those of F(tile, window) in either dimension, from the
// points that the workload chooses. Algorithms, their generators and the reference agree on them here.
//
// Std only.
#pragma once

#include <array>

#include "catalog/winograd_matrices.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

using Matrix = std::vector<std::vector<double>>;

// Vertical, horizontal. Errors (unsupported): a tile so large that there are no points for it, an unknown choice.
Result<std::array<WinogradMatrices, 2>> winograd_matrices_of(const Workload &workload);

// The one of the three matrices that the operation multiplies with: B^T, G or A^T.
const Matrix &transform_matrix(const WinogradMatrices &matrices, Operation op);

}  // namespace kiln
