// The tile in which templates turn channels that lie apart (schedules/apply/turned/turned_tile.h): what spaces know of it.
#pragma once

#include <cstdint>

namespace kiln {

// Columns of a tile that is turned in registers, whose rows are the channels of a vector.
inline int64_t turned_columns(int64_t lanes) { return lanes < 8 ? lanes : 8; }

}  // namespace kiln
