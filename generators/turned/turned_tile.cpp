#include "generators/turned/turned_tile.h"

#include <utility>

namespace kiln {

using namespace Halide;

namespace {

// `first` and then `others`.
template<typename T>
std::vector<T> joined(std::vector<T> first, const std::vector<T> &others) {
    first.insert(first.end(), others.begin(), others.end());
    return first;
}

void add_stage(TurnedTile *tile, const char *name, const std::vector<Var> &at, const Expr &element) {
    Func stage(name);
    stage(at) = element;
    tile->stages.push_back(stage);
}

// The element of the last stage at other places of the tile.
Expr before(const TurnedTile &tile, const std::vector<Expr> &places, const std::vector<Var> &of) {
    Func last = tile.stages.back();
    return last(joined(places, std::vector<Expr>(of.begin(), of.end())));
}

// Interleaving the two halves of a tile element by element moves the highest bit of a place to the lowest. As often as the
// number of rows has bits, that puts rows behind columns. It reads halves of vectors that lie as they were written, so that
// all stays in registers.
void turn_places(TurnedTile *tile, const std::vector<Var> &of) {
    const Expr p = tile->place;
    const int half = tile->rows * tile->columns / 2;
    for (int done = 1; done < tile->rows; done *= 2) {
        add_stage(tile, "turned", joined({tile->place}, of),
                  select(p % 2 == 0, before(*tile, {p / 2}, of), before(*tile, {p / 2 + half}, of)));
    }
}

// Halves of the vectors that are loaded are four columns of a row, and of the row four below. With the bits of a row r2 r1 r0 and of
// a column c2 c1 c0, the vectors, half and lanes of the stages are
//   r1 r0 c2, r2, c1 c0    ->    r0 c2 c1, r2, c0 r1    ->    c2 c1 c0, r2, r1 r0
// and each exchange interleaves the same halves of two vectors.
void turn_halves(TurnedTile *tile, const std::vector<Var> &of) {
    const Expr lane = tile->lane, vector = tile->vector, of_both = vector % 2 * 2 + lane / 2;
    for (int exchange = 0; exchange < 2; exchange++) {
        const Expr even = before(*tile, {of_both, tile->half, vector / 2}, of),
                   odd = before(*tile, {of_both, tile->half, vector / 2 + 4}, of);
        add_stage(tile, "turned", joined({tile->lane, tile->half, tile->vector}, of), select(lane % 2 == 0, even, odd));
    }
}

}  // namespace

Expr loaded_row(const TurnedTile &tile) {
    return tile.in_halves() ? tile.half * 4 + tile.vector / 2 : tile.place / tile.columns;
}

Expr loaded_column(const TurnedTile &tile) {
    return tile.in_halves() ? tile.vector % 2 * 4 + tile.lane : tile.place % tile.columns;
}

void turn_tile(TurnedTile *tile, const Expr &value, const std::vector<Var> &of) {
    if (tile->in_halves()) {
        add_stage(tile, "loaded", joined({tile->lane, tile->half, tile->vector}, of), value);
        turn_halves(tile, of);
    } else {
        add_stage(tile, "loaded", joined({tile->place}, of), value);
        turn_places(tile, of);
    }
}

Expr turned(const TurnedTile &tile, const Expr &row, const Expr &column, const std::vector<Expr> &of) {
    Func last = tile.stages.back();
    if (tile.in_halves()) return last(joined({row % 4, row / 4, column}, of));
    return last(joined({column * tile.rows + row}, of));
}

}  // namespace kiln
