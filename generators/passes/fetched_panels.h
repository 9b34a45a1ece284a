// Weights of the panel to come, fetched while the panel of now is computed.
#pragma once

#include <Halide.h>

#include <string>

namespace kiln {

// A panel of weights is read by each tile of a block in turn, the first time from memory. Then memory works for the first tile
// alone, which waits, and rests for the others. This spreads the fetches of the next panel over all tiles: each asks for its share
// of the lines, a few for each step of its sum, into the L2 cache. Beyond the buffer's end a fetch does nothing.
//
// Loops whose extents are not known when compiling, and panels that one tile alone reads, are left as they are.
void fetch_next_panel(Halide::Pipeline &pipeline, const std::string &buffer);

}  // namespace kiln
