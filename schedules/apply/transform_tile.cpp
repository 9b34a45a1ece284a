#include "schedules/apply/transform_tile.h"

#include <algorithm>

#include "schedules/apply/extent.h"

namespace kiln {
namespace {

using namespace Halide;

// The output's loops of one step, and those around it from the inside.
struct Loops {
    std::vector<Var> step, around;
    Var lane, vector;  // lanes, and vectors of channels
};

bool is_same(const Var &a, const Var &b) { return a.name() == b.name(); }

// Splits columns and rows into tiles and places, and one of them or the channels into vectors.
Loops split_output(TransformStages &s, const TransformTileKnobs &k, int lanes) {
    const bool of_columns = k.lanes == 1;
    const int vectors = extent(k.vectors);
    Func &out = s.output;
    Loops loops;
    loops.lane = Var("lane"), loops.vector = Var("vector");
    Var x_tile("x_tile"), y_tile("y_tile"), xi("xi"), yi("yi"), step("step"), in_step("in_step");
    Var x = s.output_x, y = s.output_y;
    // The last tile may be ragged: what is beyond it is not stored.
    if (s.places[1] > 1) out.split(x, x_tile, xi, s.places[1], TailStrategy::GuardWithIf), x = x_tile;
    if (s.places[0] > 1) out.split(y, y_tile, yi, s.places[0], TailStrategy::GuardWithIf), y = y_tile;
    Var channels = s.output_c;
    if (of_columns) {
        out.split(x, step, loops.lane, lanes, TailStrategy::ShiftInwards);
        x = step;
    } else {
        out.split(channels, step, in_step, vectors * lanes, TailStrategy::ShiftInwards)
            .split(in_step, loops.vector, loops.lane, lanes);
        channels = step;
    }
    loops.step.push_back(loops.lane);
    if (!of_columns) loops.step.push_back(loops.vector);
    if (s.places[1] > 1) loops.step.push_back(xi);
    if (s.places[0] > 1) loops.step.push_back(yi);
    loops.step.insert(loops.step.end(), s.inside.begin(), s.inside.end());
    if (is_same(s.innermost, s.output_x) && s.places[1] > 1) s.innermost = xi;
    loops.around = {x};
    if (s.has_rows) loops.around.push_back(y);
    loops.around.insert(loops.around.end(), s.outer.begin(), s.outer.end());
    loops.around.insert(k.channels_outer ? loops.around.end() : loops.around.begin(), channels);
    return loops;
}

// What the lanes of the stores are: those of the arithmetic, or, from the buffer, what lies next to each other.
Var store_lanes(const TransformStages &s, const TransformTileKnobs &k, const Loops &loops) {
    if (!k.stage) return loops.lane;
    for (const Var &v : loops.step) {
        if (is_same(v, s.innermost)) return v;
    }
    return loops.lane;
}

void run_in_parallel(TransformStages &s, const TransformTileKnobs &k, Loops *loops) {
    if (!k.parallel) return;
    const bool channels_outer = k.channels_outer == 1;
    const Var channels = channels_outer ? loops->around.back() : loops->around.front();
    if (k.parallel == 2) {
        s.output.parallel(channels);
        return;
    }
    // Everything above the columns, or the columns where there is nothing.
    std::vector<Var> rows = loops->around;
    rows.erase(channels_outer ? rows.end() - 1 : rows.begin());
    if (rows.size() > 1) rows.erase(rows.begin());
    Var all = rows[0];
    for (size_t d = 1; d < rows.size(); d++) {
        Var fused("fused_" + std::to_string(d));
        s.output.fuse(all, rows[d], fused);
        all = fused;
    }
    s.output.parallel(all);
}

// A stage of one step, in registers: all of it unrolled.
void keep_in_step(Func stage, const TransformStages &s, const TransformTileKnobs &k, int lanes, Var at) {
    const bool of_columns = k.lanes == 1;
    const int vectors = extent(k.vectors);
    Var vector("vector");
    stage.compute_at(s.output, at)
        .bound_extent(s.c, of_columns ? 1 : vectors * lanes)
        .bound_extent(s.x, of_columns ? lanes : 1)
        .bound_extent(s.y, 1)
        .bound_extent(s.n, 1);
    if (of_columns) {
        stage.reorder_storage(s.x, s.c).vectorize(s.x);
    } else if (vectors > 1) {
        stage.split(s.c, vector, s.c, lanes).vectorize(s.c).unroll(vector);
    } else {
        stage.vectorize(s.c);
    }
}

}  // namespace

void apply_transform_tile(TransformStages &s, const TransformTileKnobs &k, const TransformShape &shape,
                          const Target &target) {
    const int lanes = extent(transform_lanes(k, shape, target));
    Loops loops = split_output(s, k, lanes);
    const Var at = loops.around.front(), vectorized = store_lanes(s, k, loops);
    std::vector<VarOrRVar> order;
    if (!is_same(vectorized, loops.lane)) order.push_back(vectorized);
    for (const std::vector<Var> &group : {loops.step, loops.around}) {
        for (const Var &v : group) {
            if (is_same(v, loops.lane) || !is_same(v, vectorized)) order.push_back(v);
        }
    }
    s.output.reorder(order).vectorize(vectorized);
    for (const Var &v : loops.step) {
        if (!is_same(v, vectorized) && !is_same(v, loops.lane)) s.output.unroll(v);
    }
    run_in_parallel(s, k, &loops);

    keep_in_step(s.half, s, k, lanes, at);
    s.half.bound(s.i, 0, s.half_extents[0]).bound(s.k, 0, s.half_extents[1]).unroll(s.i).unroll(s.k);
    if (!k.stage) return;
    keep_in_step(s.tile, s, k, lanes, at);
    s.tile.bound(s.i, 0, s.tile_extents[0]).bound(s.j, 0, s.tile_extents[1]).unroll(s.i).unroll(s.j);
}

}  // namespace kiln
