// The space of the schedule template `channel_tile`: which knobs (schedules/spaces/depthwise/channel_tile_knobs.h) a depthwise
// convolution may have. schedules/apply/depthwise/channel_tile.h applies them; this half is std only.
#pragma once

#include <cstdint>

#include "rewrites/conv_loops.h"
#include "schedules/space.h"
#include "schedules/spaces/depthwise/channel_tile_knobs.h"
#include "schedules/spaces/depthwise/tile_rows.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *channel_tile_name = "channel_tile";
inline constexpr int channel_tile_version = 1;

// The limit of multiply-adds in the unrolled body of a register tile.
inline constexpr int64_t most_channel_tile_products = 1024;

// How an activation has the channels of a vector.
enum class ChannelsInMemory {
    together,   // side by side
    in_pieces,  // blocks of them
    apart,      // each on its own
    mixed       // vectors begin within a block and end in another
};
ChannelsInMemory channels_in_memory(const StoredActivation &stored, int64_t lanes);

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone. Precondition: the
// convolution is depthwise without a multiplier and without holes.
Space channel_tile_space(Candidate base, const ConvLoops &loops, const Target &target, const Core &core);

}  // namespace kiln
