// The space of the schedule template `winograd`: which knobs (schedules/spaces/winograd/winograd_knobs.h) a convolution may
// have. schedules/apply/winograd.h applies them; this half is std only, so the tuner can search it without
// Halide.
#pragma once

#include "rewrites/conv_loops.h"
#include "schedules/space.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *winograd_name = "winograd";
inline constexpr int winograd_version = 1;

// What the algorithm tells its space: outputs on a side of a tile, and sets of interpolation points.
struct WinogradTransform {
    int m = 2;
    int point_choices = 1;
    bool may_demote = false;       // operands or output are coarse already, and the tile is small
    int parts = 1;                 // channels that a lane multiplies at once and adds up
    bool halves_channels = false;  // Strassen's products in place of those of tiles of m outputs
};

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone.
// Precondition: stride and dilation 1 (of input phases, too), one group, a kernel of depth 1.
Space winograd_space(Candidate base, const WinogradTransform &transform, const ConvLoops &shape, const Target &target,
                     const Core &core);

}  // namespace kiln
