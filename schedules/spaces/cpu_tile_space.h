// The space of the schedule template `cpu_tile`: which knobs (schedules/spaces/cpu_tile_knobs.h) a convolution may
// have. schedules/apply/cpu_tile.h applies them; this half is std only, so the tuner can search it without Halide.
#pragma once

#include "rewrites/conv_loops.h"
#include "schedules/space.h"
#include "schedules/spaces/cpu_tile_knobs.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *cpu_tile_name = "cpu_tile";
inline constexpr int cpu_tile_version = 2;

// Lanes of the vectors that a candidate of this template is made of.
int tile_lanes(const CpuTileKnobs &knobs, const Target &target);

// Vectors of a step that one stream of weights has: 16 numbers, which are a line of f32.
constexpr int vectors_of_stream(int lanes) { return lanes >= 16 ? 1 : 16 / lanes; }

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone.
Space cpu_tile_space(Candidate base, const ConvLoops &shape, const Target &target, const Core &core);

}  // namespace kiln
