// The space of the schedule template `step_tile`: which knobs (schedules/spaces/depthwise/step_tile_knobs.h) a depthwise
// convolution may have. schedules/apply/depthwise/step_tile.h applies them; this half is std only.
#pragma once

#include <cstdint>

#include "rewrites/conv_loops.h"
#include "schedules/space.h"
#include "schedules/spaces/depthwise/step_tile_knobs.h"
#include "schedules/spaces/depthwise/tile_rows.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *step_tile_name = "step_tile";
inline constexpr int step_tile_version = 1;

// The limit of multiply-adds in the unrolled body of a register tile.
inline constexpr int64_t most_step_tile_products = 1024;
// The limit of steps of a row of the kernel, which are always unrolled.
inline constexpr int64_t most_step_tile_groups = 16;

// With `in_lanes`, a block has so many vectors: each has a dword of each 128 bits.
inline constexpr int vectors_in_lanes = 4;

// Whether the register tile has all vectors of a block.
inline bool has_whole_blocks(const StepTileKnobs &k) { return k.in_tile || k.in_lanes; }

// `base` has the algorithm's name and version; a step is of `parts` columns. The default knobs are a function of the arguments
// alone. Precondition: the convolution is depthwise without a multiplier and without holes.
Space step_tile_space(Candidate base, const ConvLoops &loops, int64_t parts, const Target &target, const Core &core);

}  // namespace kiln
