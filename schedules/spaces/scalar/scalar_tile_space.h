// The spaces of the schedule template `scalar_tile` (scalar_tile_knobs.h).
#pragma once

#include <string_view>

#include "rewrites/conv_loops.h"
#include "schedules/space.h"

namespace kiln {

inline constexpr std::string_view scalar_tile_name = "scalar_tile";
inline constexpr int scalar_tile_version = 1;

// Sums of one input channel each, and sums over channels.
Space scalar_depthwise_space(Candidate base, const ConvLoops &loops);
Space scalar_dense_space(Candidate base, const ConvLoops &loops);

}  // namespace kiln
