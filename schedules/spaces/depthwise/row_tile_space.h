// The space of the schedule template `row_tile`: which knobs (schedules/spaces/depthwise/row_tile_knobs.h) a depthwise
// convolution may have. schedules/apply/depthwise/row_tile.h applies them; this half is std only.
#pragma once

#include <cstdint>

#include "rewrites/conv_loops.h"
#include "schedules/space.h"
#include "schedules/spaces/depthwise/row_tile_knobs.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *row_tile_name = "row_tile";
inline constexpr int row_tile_version = 1;

// The limit of multiply-adds in the unrolled body of the innermost loop.
inline constexpr int64_t most_row_tile_steps = 1024;
// The most columns of the kernel whose sums are a column after the other untuned: each has a mask, and there are seven registers of these.
inline constexpr int64_t most_summed_columns = 7;
// The limit of columns of the kernel, which are always unrolled.
inline constexpr int64_t most_row_tile_columns = 64;

// Whether outputs lie in memory as sums are computed: neighbouring columns side by side.
inline bool stores_columns(const ConvLoops &loops) { return loops.stored_result.block == 1; }

// Whether both activations have the same few channels of a block side by side, of which a vector takes several columns.
bool has_short_blocks(const ConvLoops &loops, int lanes);
// How many channels, and how many columns, a vector has of such activations, or of others.
int64_t channels_of_vector(const ConvLoops &loops, const RowTileKnobs &knobs);
int64_t columns_of_vector(const ConvLoops &loops, const RowTileKnobs &knobs);

// Columns that are computed of a row of outputs. Tiles that a row is too short for reach behind its end; others are shifted
// inwards, where the output is written at once.
int64_t computed_columns(const ConvLoops &loops, const RowTileKnobs &knobs);

// Channels and columns of the tiles that turn channels into rows and back.
inline constexpr int64_t turned_tile_side = 8;

// Whether an image of input and output is more than the L2 cache keeps.
bool is_beyond_l2(const ConvLoops &loops, const Core &core);

// Whether a padded copy of rows is made by masked loads, in vectors, for a target whose vectors have so many lanes.
bool copies_by_masks(const ConvLoops &loops, int lanes);
// Whether rows may be copied into registers, where they lie in vectors of columns.
bool copies_to_registers(const ConvLoops &loops, int lanes);
// Whether a copy is one of a row, in registers.
inline bool is_in_registers(const RowTileKnobs &knobs) { return knobs.slide == 2; }
// Columns of a row of that copy, for each phase of a stride: whole vectors of them.
int64_t copied_columns(const ConvLoops &loops, const RowTileKnobs &knobs);
// Vectors of a row that are copied in code of their own, rather than in a loop.
inline constexpr int most_copied_at_once = 16;

// Whether rows that are read by masks are copied before, so that neighbours of a vector are side by side: not as in an input
// with strides, or with its channels side by side.
bool reads_planes(const ConvLoops &loops, const RowTileKnobs &knobs);
// Columns of a row of such a copy, for each phase of a stride: whole vectors of them.
int64_t plane_columns(const ConvLoops &loops, const RowTileKnobs &knobs);

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone. Precondition: the
// convolution is depthwise, without holes.
Space row_tile_space(Candidate base, const ConvLoops &loops, const Target &target, const Core &core);

}  // namespace kiln
