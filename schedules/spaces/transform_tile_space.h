// The space of the schedule template `transform_tile`: which knobs (schedules/spaces/transform_tile_knobs.h) a
// transform may have. schedules/apply/transform_tile.h applies them; this half is std only, so the tuner can search it
// without Halide.
#pragma once

#include "schedules/space.h"
#include "schedules/spaces/transform_tile_knobs.h"
#include "workload/core.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

inline constexpr const char *transform_tile_name = "transform_tile";
inline constexpr int transform_tile_version = 1;

// The loops of such an operation.
struct TransformShape {
    int64_t channels = 1;  // neighbours in memory: all of them, or one block
    int64_t columns = 1;   // tiles of a row; of a filter: its other channels
    // Which of the loops walks along neighbours in memory, of what is read and of what is written.
    enum class Innermost { channels, columns, tile } read = Innermost::channels, written = Innermost::channels;
};

// Precondition: a valid Winograd transform.
TransformShape transform_shape(const Workload &workload);

// Lanes of a step's vectors: never more than there are elements along them.
int64_t transform_lanes(const TransformTileKnobs &knobs, const TransformShape &shape, const Target &target);

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone.
Space transform_tile_space(Candidate base, const TransformShape &shape, const Target &target);

}  // namespace kiln
