// Applies the schedule template `transform_tile` (knobs: schedules/spaces/transform_tile_knobs.h) to a transform's
// stages.
#pragma once

#include <Halide.h>

#include <array>
#include <vector>

#include "schedules/spaces/transform_tile_space.h"
#include "workload/target.h"

namespace kiln {

// The stages of a transform, by their role. Where a tile is: channel c, column x and row y of tiles, image n.
//   half(c, k, i, x, y, n)   one dimension of the tile transformed
//   tile(c, j, i, x, y, n)   both
//   output                   what is stored, a pure function of `tile`
struct TransformStages {
    Halide::Func half, tile, output;
    Halide::Var c, i, j, k, x, y, n;                            // of half and tile
    std::array<int, 2> half_extents{1, 1}, tile_extents{1, 1};  // of (i, k) and (i, j)
    // Axes of the output. Its columns and rows are tiles, or `places` of a tile each; it may lack rows.
    Halide::Var output_c, output_x, output_y;
    bool has_rows = true;
    std::array<int, 2> places{1, 1};         // down, across
    std::vector<Halide::Var> inside, outer;  // the two dimensions of a tile, where it is stored whole; what is left
    Halide::Var innermost;                   // of memory
};

void apply_transform_tile(TransformStages &stages, const TransformTileKnobs &knobs, const TransformShape &shape,
                          const Target &target);

}  // namespace kiln
