#include "generators/depthwise/turned_tile.h"

namespace kiln {

using namespace Halide;

Expr row_of_place(const TurnedTile &tile) { return tile.place / turned_side; }
Expr column_of_place(const TurnedTile &tile) { return tile.place % turned_side; }

// Interleaving the two halves of a tile element by element moves the highest bit of a place to the lowest. As often as a
// side has bits, that exchanges row and column.
void turn_tile(TurnedTile *tile, const Expr &value, std::vector<Var> of) {
    constexpr int half = turned_side * turned_side / 2;
    of.insert(of.begin(), tile->place);
    const auto add = [&](const char *name, const Expr &element) {
        Func stage(name);
        stage(of) = element;
        tile->stages.push_back(stage);
    };
    const auto before = [&](const Expr &place) {
        std::vector<Expr> at(of.begin(), of.end());
        at[0] = place;
        return tile->stages.back()(at);
    };
    add("loaded", value);
    for (int done = 1; done < turned_side; done *= 2) {
        const Expr &p = tile->place;
        add("turned", select(p % 2 == 0, before(p / 2), before(p / 2 + half)));
    }
}

Expr turned(const TurnedTile &tile, const Expr &row, const Expr &column, std::vector<Expr> of) {
    of.insert(of.begin(), column * turned_side + row);
    Func last = tile.stages.back();
    return last(of);
}

}  // namespace kiln
