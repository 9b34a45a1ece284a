#include "schedules/apply/scalar_tile.h"

#include <algorithm>

#include "schedules/apply/extent.h"

namespace kiln {
namespace {

using namespace Halide;

// So few channels are found by one test.
constexpr int most_written_channels = 4;

// A stage that looks for what pixels read.
void loop_over_window(Func &stage, const ScalarDenseStages &s, const ScalarDenseSizes &sizes) {
    const RVar channel(s.window[0]), column(s.window[1]), row(s.window[2]), plane(s.window[3]);
    Stage update = stage.update();
    update.reorder(channel, column, row, plane, s.p).never_partition_all();
    if (sizes.channels <= most_written_channels) update.unroll(channel);
}

}  // namespace

void apply_scalar_depthwise(ScalarDepthwiseStages &s, const ScalarTileKnobs &k, const ConvShape &shape) {
    Var chunk("chunk"), x_tile("x_tile"), xi("xi"), y_tile("y_tile"), yi("yi");
    // Tiles at the right and the lower edge are shifted inwards: they compute some outputs twice.
    s.output.split(s.c, chunk, s.c, extent(k.channels))
        .split(s.x, x_tile, xi, extent(k.pixels), TailStrategy::ShiftInwards)
        .split(s.y, y_tile, yi, extent(k.rows), TailStrategy::ShiftInwards)
        .reorder(xi, yi, s.c, x_tile, y_tile, s.zn, chunk)
        .unroll(xi)
        .unroll(yi);
    if (k.partition == 0) s.output.never_partition_all();
    if (k.partition == 1) s.output.never_partition(y_tile);
    s.own.compute_at(s.output, s.c).store_in(MemoryType::Register).bound(s.i, 0, scalar_record_size).unroll(s.i);
    const TileLoops tile = {{s.c, 1}, {s.x, extent(k.pixels)}, {s.y, extent(k.rows)}};
    apply_scalar_result(s.rounding, {s.output, s.c}, tile);
    unroll_tile(s.sum.compute_at(s.output, s.c).store_in(MemoryType::Register), tile);
    const RVar column(s.taps[0]), row(s.taps[1]), plane(s.taps[2]);
    Stage update = s.sum.update();
    update.reorder(s.c, s.x, s.y, column, row, plane).unroll(s.x).unroll(s.y);
    if (shape.taps() <= 25) update.unroll(column).unroll(row).unroll(plane);
}

void apply_scalar_dense(ScalarDenseStages &s, const ScalarTileKnobs &k, const ScalarDenseSizes &sizes) {
    Var panel("panel"), ci("ci"), block("block"), tile("tile"), pi("pi");
    RVar outer("outer"), inner("inner");
    const int words = extent(k.paired ? k.pixels / 2 : k.pixels);
    const int tiles = extent(std::max<int64_t>(k.tiles, 1));
    s.output.split(s.c, panel, ci, sizes.width, TailStrategy::GuardWithIf)
        .split(s.p, block, tile, extent(k.pixels) * tiles, TailStrategy::GuardWithIf)
        .split(tile, tile, pi, extent(k.pixels), TailStrategy::GuardWithIf)
        .reorder(ci, pi, tile, panel, block)
        .unroll(ci)
        .unroll(pi);
    if (s.pixel.defined()) {
        s.pixel.compute_at(s.output, block).bound(s.tap, 0, sizes.taps).never_partition_all();
        loop_over_window(s.pixel, s, sizes);
    }
    if (s.copies) {
        s.patch.compute_at(s.output, block).bound(s.tap, 0, sizes.taps).bound_extent(s.p, words * tiles);
        s.patch.reorder_storage(s.p, s.tap).reorder(s.tap, s.p);
        if (s.patch.num_update_definitions() > 0) loop_over_window(s.patch, s, sizes);
        if (sizes.taps > 1) s.patch.never_partition_all();
    }
    apply_scalar_result(s.rounding, {s.output, tile}, {{s.c, sizes.width}, {s.p, extent(k.pixels)}});
    unroll_tile(s.sum.compute_at(s.output, tile).store_in(MemoryType::Register), {{s.c, sizes.width}, {s.p, words}});
    s.sum.update()
        .split(s.steps, outer, inner, extent(k.unroll))
        .reorder(s.c, s.p, inner, outer)
        .unroll(s.c)
        .unroll(s.p)
        .unroll(inner);
    if (k.paired) s.both.compute_at(s.sum, s.c).store_in(MemoryType::Register);
}

}  // namespace kiln
