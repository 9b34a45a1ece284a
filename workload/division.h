// Division of sizes.
#pragma once

#include <cstdint>

namespace kiln {

// How many tiles of `tile` cover `extent`: the quotient rounded up. Precondition: extent >= 0, tile > 0.
constexpr int64_t ceil_div(int64_t extent, int64_t tile) { return (extent + tile - 1) / tile; }

}  // namespace kiln
