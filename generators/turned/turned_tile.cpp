#include "generators/turned/turned_tile.h"

#include <utility>

namespace kiln {

using namespace Halide;

Expr row_of_place(const TurnedTile &tile) { return tile.place / tile.side; }
Expr column_of_place(const TurnedTile &tile) { return tile.place % tile.side; }

// Interleaving the two halves of a tile element by element moves the highest bit of a place to the lowest. As often as the
// number of rows has bits, that puts rows behind columns. It reads halves of vectors that lie as they were written, so that
// all stays in registers.
std::vector<Func> turned_stages(const Var &place, const TurnedTileSize &size, const Expr &value, std::vector<Var> of) {
    std::vector<Func> stages;
    of.insert(of.begin(), place);
    const auto add = [&](const char *name, const Expr &element) {
        Func stage(name);
        stage(of) = element;
        stages.push_back(stage);
    };
    const auto before = [&](const Expr &at_place) {
        std::vector<Expr> at(of.begin(), of.end());
        at[0] = at_place;
        return stages.back()(at);
    };
    add("loaded", value);
    const Expr p = place;
    const int half = size.rows * size.columns / 2;
    for (int done = 1; done < size.rows; done *= 2)
        add("turned", select(p % 2 == 0, before(p / 2), before(p / 2 + half)));
    return stages;
}

void turn_tile(TurnedTile *tile, const Expr &value, std::vector<Var> of) {
    tile->stages = turned_stages(tile->place, {tile->side, tile->side}, value, std::move(of));
}

Expr turned(const TurnedTile &tile, const Expr &row, const Expr &column, std::vector<Expr> of) {
    of.insert(of.begin(), column * tile.side + row);
    Func last = tile.stages.back();
    return last(of);
}

}  // namespace kiln
