// The spaces of the schedule template `shared_tile` (shared_tile_knobs.h).
#pragma once

#include <string_view>

#include "rewrites/conv_loops.h"
#include "schedules/space.h"

namespace kiln {

inline constexpr std::string_view shared_tile_name = "shared_tile";
inline constexpr int shared_tile_version = 1;

// Sums of one input channel each, and sums over channels. Code that layers share knows no tile that is not full of channels.
Space shared_depthwise_space(Candidate base, const ConvLoops &loops);
Space shared_dense_space(Candidate base, const ConvLoops &loops);

}  // namespace kiln
