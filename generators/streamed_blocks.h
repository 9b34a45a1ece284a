// The stores of method `stream`: a loop over blocks of matrices, each transposed by a call of
// runtime/stream_transpose.h.
#pragma once

#include <Halide.h>

#include "runtime/target.h"
#include "schedules/candidate.h"
#include "schedules/stream_form.h"

namespace kiln {

struct StreamedMovement {
    Movement moved;
    StreamForm form;
    Candidate candidate;
    std::string function;               // stream_function()
    Halide::Parameter operand, output;  // whose memory the calls read and write
};

// The loops over blocks, one for each of streamed_order().
Halide::RDom streamed_blocks(const StreamedMovement &streamed);

// 0, after the block at `blocks` has been moved; what other threads see of it is complete when all have been.
Halide::Expr stream_block(const StreamedMovement &streamed, const Halide::RDom &blocks);

}  // namespace kiln
