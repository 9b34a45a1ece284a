// The space of the schedule template `nest_tile`: which knobs (schedules/spaces/nest_tile_knobs.h) a nest may have.
// schedules/apply/nest_tile.h applies them.
#pragma once

#include "rewrites/nest_form.h"
#include "schedules/space.h"
#include "schedules/spaces/nest_tile_knobs.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *nest_tile_name = "nest_tile";
inline constexpr int nest_tile_version = 1;

inline constexpr int64_t most_unrolled = 64;  // terms of a reduction

// Lanes of a vector: never more than there are elements along them.
int64_t nest_lanes(const NestTileKnobs &knobs, const NestForm &form, const Target &target);

// Whether the knob `copied` is about this read: rows share it, and it is contiguous in the reduction alone.
bool is_copied(const FlatRead &read, const NestForm &form);

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone.
Space nest_tile_space(Candidate base, const Nest &nest, const Target &target);

}  // namespace kiln
