// The space of the schedule template `gradient_tile`: which knobs (schedules/spaces/gradient_tile_knobs.h) the gradient
// of a kernel may have. schedules/apply/gradient_tile.h applies them; this half is std only.
#pragma once

#include <cstdint>

#include "rewrites/conv_shape.h"
#include "schedules/space.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *gradient_tile_name = "gradient_tile";
inline constexpr int gradient_tile_version = 1;

// The channels that follow from a choice of `across`: of the lanes, of all vectors, and of the tile.
struct GradientSides {
    int64_t lane_channels = 1, tile_channels = 1;
};
GradientSides gradient_sides(const ConvShape &forward, bool across);

// How many parts the sum can be split into: images where there are several, else blocks of rows.
int64_t gradient_shares(const ConvShape &forward, int64_t row_block);

// `forward` is the shape of the forward convolution. The default knobs are a function of the arguments alone.
Space gradient_tile_space(Candidate base, const ConvShape &forward, const Target &target, const Core &core);

}  // namespace kiln
