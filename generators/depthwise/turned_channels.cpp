#include "generators/depthwise/turned_channels.h"

namespace kiln {

using namespace Halide;

// Interleaving the two halves of a tile element by element moves the highest bit of a place to the lowest. As often as the
// number of rows has bits, that puts rows behind columns. It reads halves of vectors that lie as they were written, so that
// all stays in registers.
void turn(ChannelStages::Turned *tile, const TurnedTileSize &size, const Expr &value, std::vector<Var> of) {
    of.insert(of.begin(), tile->place);
    const auto add = [&](const Expr &element) {
        Func stage("turned");
        stage(of) = element;
        tile->stages.push_back(stage);
    };
    const auto before = [&](const Expr &place) {
        std::vector<Expr> at(of.begin(), of.end());
        at[0] = place;
        return tile->stages.back()(at);
    };
    add(value);
    const Expr p = tile->place;
    const int half = size.rows * size.columns / 2;
    for (int done = 1; done < size.rows; done *= 2) add(select(p % 2 == 0, before(p / 2), before(p / 2 + half)));
}

}  // namespace kiln
