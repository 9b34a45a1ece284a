// A convolution as products of matrices that fill tile registers (AMX): 16 positions of the image by 64 bytes of channels, times
// as many channels by 16 outputs.
//
// The rows of a padded image lie one behind the other, so that position p = y * row + x. A tap (s, r) of an output at p is then
// at p + r * row + s: 16 neighbouring positions are the rows of one matrix for every tap, also where a row of the image ends
// among them. Sums at the positions that no output has are computed and left.
#pragma once

#include <cstdint>

#include "rewrites/conv_loops.h"

namespace kiln {

// Of one product: positions and outputs of the result. Weights lie in steps of channels of 32 bits.
inline constexpr int64_t matrix_positions = 16, matrix_outputs = 16;

struct MatrixSteps {
    int64_t chunks = 1;          // products of a tap
    int64_t chunk_channels = 4;  // of each; behind the input's last one they are none
    int64_t step_channels = 4;
    int64_t taps = 1;
    bool has_sums = true;  // of integers: behind the steps of a panel lies the sum of its weights, in i32

    int64_t channels() const { return chunks * chunk_channels; }
    int64_t chunk_steps() const { return chunk_channels / step_channels; }
    // Of a panel of outputs.
    int64_t of_panel() const { return taps * chunks * chunk_steps() + has_sums; }
};

// `bytes` is the size of an element.
MatrixSteps matrix_steps(const ConvLoops &loops, int64_t bytes);

// Positions from one row to the next.
inline int64_t row_positions(const ConvLoops &loops) { return loops.reach(loops.output[0], 0); }

// Whether the image is one row: a window over pixels that were merged, or a rank of 1.
inline bool is_one_row(const ConvLoops &loops) { return loops.output[1] == 1 && loops.kernel[1] == 1; }

// Whether products can read the input as it lies: whole tiles of one row, whole products of channels, no padding, and none that
// cuts off what lies in front.
bool reads_in_place(const ConvLoops &loops, int64_t bytes);

// What blocks of the image are cut out of: rows, or tiles of one row.
int64_t block_units(const ConvLoops &loops);
// Positions of a block of so many of them, in whole tiles.
int64_t block_positions(const ConvLoops &loops, int64_t block);

}  // namespace kiln
