// The stores of the methods `matrix` and `stream`: a loop over blocks of matrices, each transposed by a call of
// runtime/transpose/matrix_transpose.h.
#pragma once

#include <Halide.h>

#include "schedules/candidate.h"
#include "schedules/spaces/matrix_form.h"
#include "workload/target.h"

namespace kiln {

struct MatrixMovement {
    Movement moved;
    MatrixForm form;
    Candidate candidate;
    std::string function;               // transpose_function()
    Halide::Parameter operand, output;  // whose memory the calls read and write
};

// The loops over blocks, one for each of matrix_order().
Halide::RDom matrix_blocks(const MatrixMovement &matrices);

// 0, after the block at `blocks` has been moved; what other threads see of it is complete when all have been.
Halide::Expr transpose_block(const MatrixMovement &matrices, const Halide::RDom &blocks);

}  // namespace kiln
