// Tiles of channels and columns that are turned in registers, in whole vectors: what is loaded as rows of columns, a row a
// channel, becomes vectors of channels, a vector a column; and the other way round.
#pragma once

#include <Halide.h>

#include <vector>

#include "schedules/apply/depthwise/channel_tile.h"

namespace kiln {

// A tile has as many elements as rows times columns, both powers of two.
struct TurnedTileSize {
    int rows = 1, columns = 1;
};

// Adds the stages of a tile that the variables `of` number. `value` is the element of the first stage, at place row *
// columns + column; in the last stage it is at column * rows + row.
void turn(ChannelStages::Turned *tile, const TurnedTileSize &size, const Halide::Expr &value,
          std::vector<Halide::Var> of);

}  // namespace kiln
