#include "schedules/apply/shared_tile.h"

#include "schedules/apply/extent.h"
#include "schedules/apply/scalar_result.h"

namespace kiln {
namespace {

using namespace Halide;

}  // namespace

void apply_shared_depthwise(SharedDepthwiseStages &s, const SharedTileKnobs &k) {
    Var chunk("chunk"), tile("tile"), xi("xi"), band("band"), yi("yi"), word("word");
    const TileLoops all = {{s.c, 1}, {s.x, extent(k.pixels)}, {s.y, extent(k.rows)}};
    s.output.split(s.c, chunk, s.c, extent(k.channels), TailStrategy::RoundUp)
        .split(s.x, tile, xi, extent(k.pixels), TailStrategy::GuardWithIf)
        .split(s.y, band, yi, extent(k.rows), TailStrategy::GuardWithIf)
        .reorder(xi, yi, s.c, tile, band, chunk)
        .unroll(xi)
        .unroll(yi)
        .never_partition_all();
    s.window.compute_at(s.output, band)
        .bound_extent(s.c, s.channels)
        .bound_extent(s.x, s.columns)
        .bound_extent(s.y, s.rows)
        .split(s.c, word, s.c, s.written, TailStrategy::RoundUp)
        .unroll(s.c)
        .never_partition_all();
    s.own.compute_at(s.output, s.c).store_in(MemoryType::Register).bound(s.i, 0, scalar_record_size).unroll(s.i);
    apply_scalar_result(s.rounding, {s.output, s.c}, all);
    unroll_tile(s.sum.compute_at(s.output, s.c).store_in(MemoryType::Register), all);
    const RVar column(s.taps[0]), row(s.taps[1]);
    s.sum.update().reorder(s.c, s.x, s.y, column, row).unroll(s.x).unroll(s.y).unroll(column).unroll(row);
}

void apply_shared_dense(SharedDenseStages &s, const SharedTileKnobs &k) {
    Var panel("panel"), ci("ci"), tile("tile"), pi("pi");
    const int pixels = extent(k.pixels), channels = extent(k.channels), words = pixels / 2;
    s.output.split(s.c, panel, ci, channels, TailStrategy::RoundUp)
        .split(s.x, tile, pi, pixels, TailStrategy::GuardWithIf)
        .reorder(ci, pi, panel, tile, s.y)
        .unroll(ci)
        .never_partition_all();
    s.patch.compute_at(s.output, tile)
        .bound(s.tap, 0, s.all_taps)
        .bound_extent(s.p, words)
        .reorder_storage(s.p, s.tap, s.y)
        .never_partition_all();
    const RVar in_row(s.window[0]), row(s.window[1]);
    s.patch.update().reorder(in_row, row, s.p, s.y).never_partition_all();
    // Results are a loop over the pixels of a tile: written out, they would be a third of the code.
    unroll_tile(s.rounding.copied.compute_at(s.output, panel).store_in(MemoryType::Stack),
                {{s.c, channels}, {s.x, pixels}});
    unroll_tile(s.rounding.result.compute_at(s.output, pi).store_in(MemoryType::Register), {{s.c, channels}, {s.x, 1}});
    s.rounding.result.specialize(s.rounding.all_fit);
    unroll_tile(s.sum.compute_at(s.output, panel).store_in(MemoryType::Register), {{s.c, channels}, {s.p, words}});
    s.sum.update().reorder(s.c, s.p, s.steps).unroll(s.c).unroll(s.p);
    s.both.compute_at(s.sum, s.c).store_in(MemoryType::Register);
}

}  // namespace kiln
