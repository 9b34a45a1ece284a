// Stages of a tile on its way through registers: each says what lies at which place of the tile, in terms of the stage
// before. Which tile it is, the output's coordinates say.
#pragma once

#include <Halide.h>

#include <vector>

#include "schedules/apply/movement/moved_loops.h"

namespace kiln {

class TileStages {
public:
    // `loops`: of the output, outermost first.
    explicit TileStages(const std::vector<MovedLoop> &loops);

    // Another stage: `value` of its element at place(), in terms of the output's coordinates.
    Halide::Func add(const char *name, int64_t lanes, int64_t count, const Halide::Expr &value);

    const Halide::Var &place() const { return tile_.place; }
    const MovedTile &tile() const { return tile_; }

private:
    MovedTile tile_;
    std::vector<Halide::Var> arguments_;
};

// Arguments of a stage: the place in the tile, then which tile.
std::vector<Halide::Expr> placed(const Halide::Expr &place, std::vector<Halide::Expr> tile);

// Where tile `number` of `size` elements begins: the last one ends where the digit does.
Halide::Expr tile_start(const Halide::Expr &number, int size, int64_t of);

}  // namespace kiln
