#include "schedules/apply/gradient_tile.h"

#include <algorithm>
#include <vector>

#include "schedules/apply/extent.h"
#include "schedules/spaces/gradient_tile_space.h"
#include "workload/division.h"

namespace kiln {
namespace {

using namespace Halide;

int rounded_up(int64_t size, int64_t tile) { return extent(ceil_div(size, tile) * tile); }

}  // namespace

void apply_gradient_tile(GradientStages &g, const GradientTileKnobs &k, const ConvShape &forward) {
    const int lanes = extent(k.lanes), width = extent(k.lanes * k.vectors);
    const GradientSides sides = gradient_sides(forward, k.across);
    g.output.vectorize(g.inner, lanes, TailStrategy::GuardWithIf);
    if (!g.part.defined()) return;

    Var rows("rows"), task("task"), share("share");
    RVar block(g.blocks[0]), plane(g.blocks[1]), image(g.blocks[2]), share_of("share_of"), rest("rest");
    Func sum = g.total;  // what goes over all pixels
    if (k.partials) {
        const int64_t shares = gradient_shares(forward, k.row_block);
        RVar &split = forward.batch > 1 ? image : block;
        g.total.update().split(split, share_of, rest, extent(ceil_div(shares, k.partials)), TailStrategy::GuardWithIf);
        split = rest;
        sum = g.total.update().rfactor(share_of, share);
        sum.compute_root().vectorize(g.lane).parallel(share);
        sum.update().parallel(share);
        g.total.update().vectorize(g.lane);
    }
    // Whole tiles: what is beyond the last channel or column is computed and not stored.
    g.total.compute_root()
        .bound(g.lane, 0, lanes)
        .bound(g.vector, 0, extent(k.vectors))
        .bound(g.panel, 0, extent(ceil_div(sides.lane_channels, width)))
        .bound(g.channel, 0, rounded_up(sides.tile_channels, k.channels))
        .bound(g.s, 0, rounded_up(forward.kernel[0], k.columns))
        .vectorize(g.lane);
    Var channel_tile("channel_tile"), channel_in("channel_in"), column_tile("column_tile"), column_in("column_in");
    Stage update = sum.update();
    std::vector<VarOrRVar> order{g.lane, g.vector, channel_in, column_in, channel_tile, column_tile,
                                 g.r,    g.t,      g.panel,    block,     plane,        image};
    if (k.partials) order.push_back(share);  // outermost: a thread does all of its own
    update.split(g.channel, channel_tile, channel_in, extent(k.channels), TailStrategy::GuardWithIf)
        .split(g.s, column_tile, column_in, extent(k.columns), TailStrategy::GuardWithIf)
        .reorder(order)
        .vectorize(g.lane)
        .unroll(g.vector)
        .unroll(channel_in)
        .unroll(column_in);
    if (k.parallel) update.fuse(g.r, g.t, rows).fuse(rows, g.panel, task).parallel(task);

    g.part.compute_at(sum, channel_tile)
        .store_in(MemoryType::Register)
        .vectorize(g.lane)
        .unroll(g.vector)
        .unroll(g.channel)
        .unroll(g.s);
    g.part.update()
        .reorder(g.lane, g.vector, g.channel, g.s, RVar(g.pixels[0]), RVar(g.pixels[1]))
        .vectorize(g.lane)
        .unroll(g.vector)
        .unroll(g.channel)
        .unroll(g.s);

    for (Func *copy : {&g.x, &g.dy}) {
        if (!copy->defined()) continue;
        copy->compute_at(sum, block).vectorize(g.c, lanes, TailStrategy::RoundUp);
        if (k.parallel) copy->parallel(g.py);
    }
}

}  // namespace kiln
