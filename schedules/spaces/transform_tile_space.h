// The knobs of the schedule template `transform_tile`: operations that turn small tiles of one tensor into tiles or
// places of another (the Winograd transforms), with the arithmetic of a tile unrolled.
// schedules/apply/transform_tile.h applies them; this half is std only, so the tuner can search it without Halide.
//
// The loop nest, outermost first: batch / rows of tiles / tiles of a row / channel blocks / one step: a tile of one
// vector or several.
//
//   lanes            what the lanes of a vector are: 0 channels, 1 tiles of a row
//   vectors          vectors of channels in one step
//   stage            1: a step's results are collected in a buffer and then stored in the order of memory
//   channels_outer   1: the channel blocks are the outermost loop, so that neighbouring tiles follow each other
//   parallel         0: one thread; 1: rows of tiles in parallel; 2: channel blocks
#pragma once

#include "schedules/space.h"
#include "workload/machine.h"
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
int64_t transform_lanes(const Candidate &candidate, const TransformShape &shape, const Target &target);

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone.
Space transform_tile_space(Candidate base, const TransformShape &shape, const Target &target);

}  // namespace kiln
