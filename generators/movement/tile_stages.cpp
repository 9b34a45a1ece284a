#include "generators/movement/tile_stages.h"

#include "schedules/apply/extent.h"

namespace kiln {

using namespace Halide;

TileStages::TileStages(const std::vector<MovedLoop> &loops) : arguments_{tile_.place} {
    for (const MovedLoop &loop : loops) arguments_.push_back(loop.variable);
}

Func TileStages::add(const char *name, int64_t lanes, int64_t count, const Expr &value) {
    Func elements(name);
    elements(arguments_) = value;
    tile_.stages.push_back({elements, lanes, count});
    return elements;
}

std::vector<Expr> placed(const Expr &place, std::vector<Expr> tile) {
    tile.insert(tile.begin(), place);
    return tile;
}

Expr tile_start(const Expr &number, int size, int64_t of) {
    return of % size == 0 ? number * size : min(likely(number * size), extent(of) - size);
}

}  // namespace kiln
