// Vectors of channels that are stored where each channel has its own plane.
#pragma once

#include <Halide.h>

namespace kiln {

// A vector whose lanes lie apart in memory is stored lane by lane: two instructions for each number. Where four such stores follow each
// other and each lane's four numbers are neighbours, as pixels of a row are in NCHW, this turns the four vectors within 128 bits, by
// eight shuffles, and stores the four numbers of a lane together. Numbers have 32 bits.
void turn_stores(Halide::Pipeline &pipeline);

}  // namespace kiln
