// The space of the schedule template `matrix_tile` (schedules/spaces/matrix/matrix_tile_knobs.h). schedules/apply/matrix_tile.h
// applies it; this half is std only.
#pragma once

#include "rewrites/conv_loops.h"
#include "schedules/space.h"
#include "schedules/spaces/matrix/matrix_tile_knobs.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *matrix_tile_name = "matrix_tile";
inline constexpr int matrix_tile_version = 1;

// `base` has the algorithm's name and version, `bytes` is the size of an element. The default knobs are a function of the arguments
// alone. Precondition: one group, strides and dilations of 1.
Space matrix_tile_space(Candidate base, const ConvLoops &loops, int64_t bytes, const Target &target, const Core &core);

// Estimated cycles of the products, for comparison with other units.
double matrix_cycles(const ConvLoops &loops, int64_t bytes, int64_t block);

}  // namespace kiln
