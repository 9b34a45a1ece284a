// The kinds of convolution that the template `cpu_tile` tells apart when nothing was measured: which default each kind
// gets, and why. One table, first row that applies; docs/algorithms.md shows it.
#pragma once

#include <cstdint>
#include <span>

#include "schedules/spaces/cpu_tile_rules.h"

namespace kiln {

struct TileCase {
    // How the sum over kernel columns and channels is written.
    enum class Sum {
        written_out,       // in the output's expression: no loops, no accumulator
        joined_columns,    // a kernel row's columns and channels are one loop over contiguous floats
        columns_unrolled,  // columns unrolled around a loop over channels
        columns_in_turn    // loops over columns and channels
    };
    // Which pixels reuse what before the next panel of weights comes.
    enum class Block {
        one_tile,  // all panels of one tile after each other
        l2_cache   // a block of pixels that a quarter of the L2 cache holds
    };

    const char *name;
    bool (*applies)(const TileFacts &facts, const RegisterTile &tile);
    Sum sum;
    int64_t unroll;   // channels unrolled at most; 0: all
    int64_t spread;   // as the knob, as far as it applies
    bool share_rows;  // of the input by the rows of a tile
    Block block;
    bool copies_padding;  // a padded copy of the input where tests for padding do not fold away
    const char *reason;
};

std::span<const TileCase> tile_cases();
const TileCase &tile_case(const TileFacts &facts, const RegisterTile &tile);

}  // namespace kiln
