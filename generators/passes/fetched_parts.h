// The next part of a tensor, fetched while loops read the one of now several times.
#pragma once

#include <Halide.h>

#include <string>

namespace kiln {

// A panel of weights is read by each tile of a block in turn, and a block of the input by each panel: the first time from memory. Then
// memory works for the first reader alone, which waits, and rests for the others. This spreads the fetches of the next panel or block
// over all readers: each step of their sums asks for its share of the lines, in order, into the L2 cache. Beyond the buffer's end a
// fetch does nothing.
//
// Parts are as the loops have them: one ends where a loop moves on outside of a loop that does not. The elements of a part must follow
// each other in memory. Loops whose extents are not known when compiling, and parts that are read once, are left as they are.
void fetch_next_part(Halide::Pipeline &pipeline, const std::string &buffer);

}  // namespace kiln
