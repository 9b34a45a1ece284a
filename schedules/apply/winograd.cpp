#include "schedules/apply/winograd.h"

#include "schedules/apply/channel_loop.h"
#include "schedules/apply/extent.h"
#include "schedules/apply/scatter.h"

namespace kiln {
namespace {

using namespace Halide;

// The loops that the other stages are computed in.
struct Loops {
    LoopLevel vector;         // vectors of output channels of a tile
    LoopLevel channel_block;  // blocks of output channels
    LoopLevel block;          // where input is transformed
    LoopLevel rows;           // where its rows are copied
};

class Template {
public:
    Template(WinogradStages &stages, const WinogradKnobs &knobs, const WinogradFacts &facts)
        : s(stages), k(knobs), f(facts) {}

    void apply() {
        if (s.scattered.defined()) {
            scatter_output(s.output, s.scattered, {s.c, s.x, s.y, f.lanes, s.scattered_block, k.parallel != 0});
        }
        const Loops loops = f.halves_channels ? tile_halves() : tile_output();
        transform_output(loops);
        multiply(loops);
        transform_input(loops);
        if (k.stage_input) copy_input(loops);
    }

private:
    // Ragged edges: the last tiles compute all their outputs, guards drop what lies outside.
    Loops tile_output() {
        Var vector("vector"), ci("ci"), lane("lane"), channel_block("channel_block"), xi("xi"), xo("xo"),
            x_block("x_block"), yi("yi"), yo("yo"), y_block("y_block"), piece("piece"), n_block("n_block"), ni("ni");
        const auto guard = TailStrategy::GuardWithIf;
        split_channels(s.output, s.c, s.b, f.shape, vector, lane, f.lanes, guard);
        s.output.split(vector, channel_block, ci, extent(k.panel_block * k.vectors), guard)
            .split(s.x, xo, xi, extent(f.m[0]), guard)
            .split(s.y, yo, yi, extent(f.m[1]), guard)
            .split(xo, x_block, xo, extent(k.block_x), guard)
            .split(yo, y_block, yo, extent(k.block_y), guard)
            .split(s.n, n_block, ni, extent(images_of_block(k)))
            .reorder(lane, xi, yi, ci, xo, yo, ni, channel_block, x_block, y_block, s.z, n_block)
            .unroll(xi)
            .unroll(yi);
        const int together = piece_of_vector(f.shape.output_block, f.lanes);
        if (together < f.lanes) s.output.split(lane, piece, lane, together).reorder(lane, piece, xi).unroll(piece);
        s.output.vectorize(lane);
        // The guards cost little; copies of the whole body without them multiply the time to compile.
        for (const Var &loop : {xo, yo, x_block, y_block}) s.output.partition(loop, Partition::Never);
        const TileExtents tile{.lanes = f.lanes, .columns = f.m[0], .rows = f.m[1]};
        compute_numbers(s, ci, tile, f.shape, tile.divides_image(f.shape) || !s.numbers.read_results);
        return deal_to_threads(s.output, {ci, channel_block, x_block, y_block, n_block});
    }

    // The same where a product has the sums of two channels: both are in the innermost loops, which update the output.
    Loops tile_halves() {
        const RVar half(s.halves_and_channels[0]), channel(s.halves_and_channels[1]);
        RVar vector("vector"), ci("ci"), lane("lane"), channel_block("channel_block");
        Var xi("xi"), xo("xo"), x_block("x_block"), yo("yo"), y_block("y_block"), n_block("n_block"), ni("ni");
        const auto guard = TailStrategy::GuardWithIf;
        Stage output = s.output.update();
        output.allow_race_conditions()
            .split(channel, vector, lane, f.lanes)
            .split(vector, channel_block, ci, extent(k.panel_block * k.vectors), guard)
            .split(s.x, xo, xi, extent(f.m[0]), guard)
            .split(xo, x_block, xo, extent(k.block_x), guard)
            .split(s.y, y_block, yo, extent(k.block_y), guard)
            .split(s.n, n_block, ni, extent(images_of_block(k)))
            .reorder(xi, half, lane, ci, xo, yo, ni, channel_block, x_block, y_block, s.z, n_block)
            .unroll(xi)
            .unroll(half)
            .vectorize(lane);
        for (const Var &loop : {xo, yo, x_block, y_block}) output.partition(loop, Partition::Never);
        return deal_to_threads(output, {ci, channel_block, x_block, y_block, n_block});
    }

    struct BlockLoops {
        VarOrRVar vector, channel_block;
        Var x_block, y_block, n_block;
    };

    Loops deal_to_threads(Stage output, const BlockLoops &of) {
        const auto at = [&](const VarOrRVar &loop) { return LoopLevel(s.output, loop); };
        const Var slice("slice");
        Loops loops{at(of.vector), at(of.channel_block), at(k.stage_rows ? of.y_block : of.x_block), at(of.y_block)};
        if (k.parallel == 1) {
            output.fuse(of.y_block, s.z, slice).fuse(slice, of.n_block, slice).parallel(slice);
            if (k.stage_rows) loops.block = at(slice);
            loops.rows = at(slice);
        }
        if (k.parallel == 3) {
            output.fuse(of.x_block, of.y_block, slice)
                .fuse(slice, s.z, slice)
                .fuse(slice, of.n_block, slice)
                .parallel(slice);
            loops.block = at(slice);
        }
        if (k.parallel == 2) output.parallel(of.channel_block);
        return loops;
    }

    void transform_output(const Loops &loops) {
        if (f.halves_channels) return;  // a few sums of what is loaded
        s.output_columns.compute_at(loops.vector).vectorize(s.c, f.lanes).unroll(s.in_tile).unroll(s.out_row);
    }

    void multiply(const Loops &loops) {
        const int vectors = extent(k.vectors);
        Var xi("xi"), xo("xo"), yi("yi"), yo("yo"), ni("ni"), no("no");
        // No bound_storage here: where the bounds of guarded channels are inferred too wide, Halide 21 takes its
        // assertion for a fact and drops the guards. Register tiles at the edge of a block are shifted inwards: they
        // compute some products twice, in full tiles.
        s.products.compute_at(loops.channel_block)
            .bound_extent(s.lane, f.lanes)
            .bound_extent(s.vector, vectors)
            .split(s.tile_x, xo, xi, extent(k.tiles_x), TailStrategy::ShiftInwards)
            .split(s.tile_y, yo, yi, extent(k.tiles_y), TailStrategy::ShiftInwards)
            .split(s.n, no, ni, extent(images_of_tile(k)), TailStrategy::ShiftInwards)
            .reorder(s.lane, s.vector, xi, yi, ni, xo, yo, no, s.panel, s.frequency, s.z)
            .vectorize(s.lane)
            .unroll(s.vector)
            .unroll(xi)
            .unroll(yi)
            .unroll(ni);
        keep_apart(s.products, product_tiles(k), stored_products(f, k));
        s.sum.compute_at(s.products, xo)
            .store_in(MemoryType::Register)
            .bound_extent(s.lane, f.lanes)
            .bound_extent(s.vector, vectors)
            .bound_extent(s.panel, 1)
            .bound_extent(s.tile_x, extent(k.tiles_x))
            .bound_extent(s.tile_y, extent(k.tiles_y))
            .bound_extent(s.n, extent(images_of_tile(k)))
            .bound_extent(s.frequency, 1);
        const RVar channel(s.taps[0]);
        std::vector<VarOrRVar> order{s.lane, s.vector, s.tile_x, s.tile_y, s.n};
        const int sums = s.taps.dimensions() - (f.parts > 1 ? 1 : 0);
        for (int i = 0; i < sums; i++) order.emplace_back(s.taps[i]);
        order.insert(order.end(), {s.panel, s.frequency, s.z});
        s.sum.update().reorder(order).unroll(channel, extent(k.unroll));
        if (f.parts > 1) {
            const RVar part(s.taps[sums]);
            s.sum.update().atomic().reorder(part, s.lane).vectorize(part);
        }
        for (Stage stage : {Stage(s.sum), Stage(s.sum.update())}) {
            stage.vectorize(s.lane).unroll(s.vector).unroll(s.tile_x).unroll(s.tile_y).unroll(s.n);
        }
    }

    void keep_apart(Func &places, const TilesInMemory &computed, const TilesInMemory &stored) const {
        if (stored.vectors != computed.vectors) places.align_storage(s.channels, extent(stored.vectors));
        if (stored.x != computed.x) places.align_storage(s.tile_x, extent(stored.x));
        if (stored.y != computed.y) places.align_storage(s.tile_y, extent(stored.y));
    }

    void transform_input(const Loops &loops) {
        const int step = extent(f.channel_step());
        s.transformed.compute_at(loops.block)
            .reorder(s.lane, s.frequency, s.channels, s.tile_x, s.tile_y, s.z, s.n)
            .vectorize(s.lane, step)
            .unroll(s.frequency);
        keep_apart(s.transformed, transformed_tiles(f, k), stored_transformed(f, k));
        if (k.images) {  // images side by side, as tiles are
            s.transformed.reorder_storage(s.lane, s.tile_x, s.tile_y, s.n, s.channels, s.frequency, s.z);
        }
        if (k.tile_major) s.transformed.reorder_storage(s.lane, s.channels, s.tile_x, s.tile_y, s.frequency);
        if (k.parallel == 2) {
            s.transformed.reorder(s.lane, s.frequency, s.tile_x, s.tile_y, s.channels, s.z, s.n).parallel(s.channels);
        }
        // Stages of their own, though they live in registers: their expressions would multiply in size otherwise.
        const Var tile_loop = k.parallel == 2 ? s.tile_x : s.channels;
        s.input_columns.compute_at(s.transformed, tile_loop)
            .vectorize(s.lane, step)
            .unroll(s.in_tile)
            .unroll(s.row_frequency);
        const int64_t in_row = f.side_by_side();
        const int together = in_row ? std::min(step, extent(in_row)) : piece_of_vector(f.shape.input_block, step);
        Var piece("piece"), lane("lane_in");
        s.input_tile.compute_at(s.transformed, tile_loop).unroll(s.in_tile).unroll(s.in_tile_y);
        if (together < step) {
            s.input_tile.split(s.lane, piece, lane, together).vectorize(lane).unroll(piece);
        } else {
            s.input_tile.vectorize(s.lane, step);
        }
    }

    void copy_input(const Loops &loops) {
        const int step = extent(f.channel_step()), together = piece_of_vector(f.shape.input_block, step);
        Var tile("tile"), column("column"), piece("piece"), lane("lane_in");
        Func &rows = s.copied_rows;
        rows.compute_at(loops.rows).bound(s.lane, 0, step).bound(s.x, 0, extent(winograd_copied_width(f, k)));
        if (s.turned_input.defined()) {
            rows.split(s.x, tile, column, s.turned_input.columns)
                .reorder(s.lane, column, tile, s.y, s.channels, s.z, s.n)
                .vectorize(s.lane)
                .unroll(column);
            keep_in_registers(s.turned_input, rows, tile);
        } else {
            rows.split(s.lane, piece, lane, together)
                .reorder(lane, piece, s.channels, s.x, s.y, s.z, s.n)
                .vectorize(lane)
                .unroll(piece);
        }
    }

    WinogradStages &s;
    const WinogradKnobs &k;
    const WinogradFacts &f;
};

}  // namespace

void apply_winograd(WinogradStages &stages, const WinogradKnobs &knobs, const WinogradFacts &facts) {
    Template(stages, knobs, facts).apply();
}

void apply_winograd_pack(WinogradPackStages &s, const WinogradFacts &facts) {
    s.packed.reorder(s.lane, s.frequency, s.ci, s.vector, s.panel, s.block)
        .vectorize(s.lane, facts.lanes)
        .unroll(s.frequency);
    s.columns.compute_at(s.packed, s.ci).vectorize(s.lane, facts.lanes).unroll(s.tap).unroll(s.row_frequency);
}

void apply_winograd_pair_pack(WinogradPairStages &s) {
    s.packed.reorder(s.part, s.lane, s.frequency, s.vector, s.step, s.panel, s.block).unroll(s.frequency);
    s.columns.compute_at(s.packed, s.vector).unroll(s.tap).unroll(s.row_frequency);
}

}  // namespace kiln
