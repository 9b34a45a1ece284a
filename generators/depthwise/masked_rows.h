// Rows of the input by masks of the columns that are inside: as they lie, for each tap, or once for a padded copy.
//
//   read(x, tap, y, channel, z, n)           = the input at x * stride + tap * dilation - pad, zero outside
//   planes(x, phase, y, channel, z, n)       = the input at x * stride + phase, where `read` wants neighbours side by side that
//                                              the input has apart: by strides, or since its channels are side by side
//   copy(x, phase, y, channel, z, n)         = the input at x * stride + phase - pad, zero outside
//
// What a mask leaves out is never touched, so neither padding nor the end of the input needs memory of its own.
#pragma once

#include <Halide.h>

#include "rewrites/conv_loops.h"
#include "schedules/apply/depthwise/row_tile.h"

namespace kiln {

struct MaskedRows {
    const ConvLoops &loops;
    const RowTileKnobs &knobs;
    Halide::Parameter input;  // c in block, x, y, z, block, n
    RowStages &stages;
};

// Defines `read`, and `planes` with its tiles where it needs them.
void define_masked_rows(const MaskedRows &rows);

// Defines `copy`, padded rows of which `dense` loads whole vectors with zeros outside. Precondition: copies_by_masks().
void define_masked_copy(const MaskedRows &rows);

// What kernel column `column` reads for the outputs of a vector, in row y and plane z of the input.
Halide::Expr masked_tap(const MaskedRows &rows, const Halide::Expr &column, const Halide::Expr &y,
                        const Halide::Expr &z);

}  // namespace kiln
