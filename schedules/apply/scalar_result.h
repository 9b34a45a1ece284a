// From the sums of a tile to its results, on a core without vectors: what templates for such cores share.
#pragma once

#include <Halide.h>

#include <utility>
#include <vector>

namespace kiln {

// Words that the results of a channel are requantized by.
constexpr int scalar_record_size = 4;

//   result     the sums rounded: from `general` where not all channels fit the short form, in code of its own for both
//   general    a loop over the tile
//   copied     the sums, where a loop can find them
struct ScalarResultStages {
    Halide::Func copied{"copied"}, general{"general"}, result{"result"};
    Halide::Expr all_fit;
};

// The loops of a tile, each with its extent.
using TileLoops = std::vector<std::pair<Halide::Var, int>>;

void unroll_tile(Halide::Func &stage, const TileLoops &loops);
void apply_scalar_result(ScalarResultStages &stages, const Halide::LoopLevel &tile, const TileLoops &loops);

}  // namespace kiln
