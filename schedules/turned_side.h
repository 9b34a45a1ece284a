// The side of a tile of floats that is turned in registers (schedules/apply/turned_tile.h).
#pragma once

#include <cstdint>

namespace kiln {

inline constexpr int64_t turned_tile_side = 8;

}  // namespace kiln
