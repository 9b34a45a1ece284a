// A row of the input with its padding, its columns apart by what a stride divides: neighbouring outputs read neighbours.
//
// Column x of phase f is position x * stride + f - pad of the input. So tap k reads, for output o, the phase
// k * dilation % stride at column o + k * dilation / stride.
#pragma once

#include <cstdint>
#include <vector>

#include "rewrites/conv_shape.h"

namespace kiln {

struct PaddedRow {
    struct Phase {
        int64_t phase = 0;
        int64_t first = 0, end = 0;  // the columns that lie in the input; empty where first == end
    };

    std::vector<Phase> phases;  // those that some tap reads, ascending
    int64_t columns = 0;        // of a phase: what `outputs` neighbouring outputs read, from 0
};

// The columns that the first `outputs` outputs of a row read. Precondition: no holes.
PaddedRow padded_row(const ConvShape &shape, int64_t outputs);

}  // namespace kiln
