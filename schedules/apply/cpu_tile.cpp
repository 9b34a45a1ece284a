#include "schedules/apply/cpu_tile.h"

#include <algorithm>

#include "schedules/apply/channel_loop.h"
#include "schedules/apply/extent.h"
#include "schedules/apply/scatter.h"
#include "schedules/spaces/cpu_tile_space.h"

namespace kiln {
namespace {

using namespace Halide;

// The loops that the other stages are computed in.
struct Loops {
    Var tile;     // the innermost loop outside of a register tile
    Var x_block;  // the loop over blocks of tiles in x
    Var block;    // the loop over blocks of rows
};

// The lanes of a tile's vectors: channels of one pixel, or pixels of one channel.
struct Lanes {
    int channels = 1, pixels = 1;

    int of_vector() const { return std::max(channels, pixels); }
};

Lanes lanes_of(const CpuTileKnobs &k, const Target &target) {
    return {.channels = tile_lanes(k, target), .pixels = k.lanes == 1 ? vector_lanes(target) : 1};
}

bool is_row_of_tiles(const CpuTileKnobs &k, const ConvLoops &shape, const Lanes &lanes) {
    return shape.output[0] % (k.pixels * lanes.pixels) == 0;
}

// Tiles at the right edge are shifted inwards: they compute some outputs twice, in full tiles. Where a tensor is added to them, which may
// lie in their place, tests leave out what the row does not have; vectors of pixels have none (adds_twice).
TailStrategy tail_of_row(const CpuTileKnobs &k, const ConvLoops &shape, const Lanes &lanes) {
    const bool adds_here = shape.adds_tensor && !shape.scatters();
    const bool is_tested = adds_here && lanes.pixels == 1 && !is_row_of_tiles(k, shape, lanes);
    return is_tested ? TailStrategy::GuardWithIf : TailStrategy::ShiftInwards;
}

// A panel asks for what the same panel reads of the next block of tiles: the lines of its pixels lie apart, and from memory they
// come late. Panels that share a line ask for it together. Beyond the input's end a prefetch does nothing.
void fetch_next_block(ConvStages &stages, const CpuTileKnobs &k, const Lanes &lanes, const Var &panel,
                      const Var &x_block) {
    constexpr int64_t floats_of_line = 16;
    const int64_t width = k.vectors * lanes.channels, sharing = floats_of_line / width;
    Var at = panel;
    if (sharing > 1 && floats_of_line % width == 0 && k.panel_block % sharing == 0) {
        at = Var("panels_of_line");
        stages.output.split(panel, at, panel, extent(sharing));
    }
    stages.output.prefetch(stages.input, at, x_block, extent(k.prefetch), PrefetchBoundStrategy::NonFaulting);
}

Loops tile_output(ConvStages &stages, const CpuTileKnobs &k, const ConvLoops &shape, const Lanes &lanes) {
    Func &out = stages.output;
    const Var &x = stages.x, &y = stages.y, &z = stages.z, &n = stages.n;
    Var ci("ci"), lane("lane"), vector("vector"), panel("panel"), panel_group("panel_group");
    Var xi("xi"), x_lane("x_lane"), x_tile("x_tile"), x_block("x_block"), yi("yi"), y_tile("y_tile"),
        y_block("y_block");
    Var slice("slice"), piece("piece");
    const int together = shape.group_panels ? lanes.channels : piece_of_vector(shape.output_block, lanes.channels);

    // Rows at the lower edge cannot be shifted inwards: the sum counts them from the tile's first.
    if (k.masked) {  // such a split is the last one of its lanes
        out.split(channel_loop(out, stages.c, stages.b, shape), ci, lane, lanes.channels, TailStrategy::PredicateStores)
            .split(ci, panel, vector, extent(k.vectors), TailStrategy::GuardWithIf);
    } else {
        split_channels(out, stages.c, stages.b, shape, panel, ci, extent(k.vectors * lanes.channels),
                       TailStrategy::GuardWithIf);
        if (shape.group_panels) out.fuse(panel, stages.b, panel);
        out.split(ci, vector, lane, lanes.channels);
        if (together < lanes.channels) out.split(lane, piece, lane, together).unroll(piece);
    }
    out.split(panel, panel_group, panel, extent(k.panel_block), TailStrategy::GuardWithIf)
        .split(x, x_tile, xi, extent(k.pixels * lanes.pixels), tail_of_row(k, shape, lanes))
        .split(x_tile, x_block, x_tile, extent(k.x_block), TailStrategy::GuardWithIf)
        .split(y, y_tile, yi, extent(k.rows), TailStrategy::GuardWithIf)
        .split(y_tile, y_block, y_tile, extent(k.row_block), TailStrategy::GuardWithIf)
        .reorder(lane, vector, xi, yi, x_tile, y_tile, panel, x_block, y_block, z, n, panel_group)
        .vectorize(lane)
        .unroll(vector)
        .unroll(xi)
        .unroll(yi);
    // The last tile alone has code with tests, not the whole block that it ends. Blocks of one tile have no loop of tiles inside.
    if (tail_of_row(k, shape, lanes) == TailStrategy::GuardWithIf && k.x_block > 1) out.never_partition(x_block);
    if (together < lanes.channels) out.reorder(lane, piece, vector);
    if (lanes.pixels > 1)
        out.split(xi, xi, x_lane, lanes.pixels, TailStrategy::RoundUp).reorder(x_lane, lane).vectorize(x_lane);
    if (k.unroll_tiles) out.unroll(x_tile);
    if (k.prefetch && shape.groups > 1) fetch_next_block(stages, k, lanes, panel, x_block);
    // All panels read a block of what is computed in front.
    if (shape.is_input_computed())
        out.reorder(lane, vector, xi, yi, x_tile, y_tile, panel, panel_group, x_block, y_block, z, n);
    if (k.parallel == 1) {
        if (!shape.is_input_computed())
            out.reorder(lane, vector, xi, yi, x_tile, y_tile, panel, x_block, panel_group, y_block, z, n);
        out.fuse(y_block, z, slice).fuse(slice, n, slice).parallel(slice);
        return {x_tile, x_block, slice};
    }
    if (k.parallel == 3) {
        out.reorder(lane, vector, xi, yi, x_tile, y_tile, panel, panel_group, x_block, y_block, z, n);
        out.fuse(x_block, y_block, slice).fuse(slice, z, slice).fuse(slice, n, slice).parallel(slice);
        return {x_tile, slice, slice};
    }
    if (k.parallel == 2) out.parallel(panel_group);
    return {x_tile, x_block, y_block};
}

// Spread inputs live in registers: for one step of channels and one column of the kernel, or for all of its columns,
// which share most of them.
void spread_input(ConvStages &stages, const CpuTileKnobs &k, const ConvLoops &shape, int lanes) {
    if (k.spread == 0) return;
    stages.spread.compute_at(stages.sum, k.spread == 1 ? stages.channel_out : stages.channel_in)
        .vectorize(stages.lane)
        .unroll(stages.ci)
        .reorder(stages.lane, stages.ci, stages.vector, stages.x, stages.y)
        .unroll(stages.vector)
        .unroll(stages.x)
        .unroll(stages.y)
        .store_in(MemoryType::Register);
    // An image of one row whose taps are left out in the padding: Halide would solve for the rows that are read.
    if (shape.output[1] == 1 && !k.unroll_rows) stages.spread.bound_extent(stages.y, 1);
    if (!stages.dense.defined()) return;
    // Shuffles of a vector in registers need indices that are known when compiling: `unroll` covers a whole group.
    stages.dense.compute_at(stages.sum, stages.channel_in)
        .bound(stages.lane, 0, extent(lanes / shape.group_outputs() * shape.input_channels))
        .vectorize(stages.lane)
        .reorder(stages.lane, stages.vector, stages.x, stages.y)
        .unroll(stages.vector)
        .unroll(stages.x)
        .unroll(stages.y)
        .store_in(MemoryType::Register);
}

// Pixels of a tile are read side by side, which the processor's own prefetchers lose track of at the end of each tile:
// from L3 and memory the next tile comes late. The same loop over the channels that reads a tile asks for the next one,
// line by line, a tile's length ahead. Beyond the input's end a prefetch does nothing.
void fetch_ahead(const ConvStages &stages, Stage &update, const CpuTileKnobs &k, const ConvLoops &shape) {
    const int64_t tile = k.pixels * shape.stride[0] * shape.input_channels;
    update.prefetch(stages.input, stages.channel_out, stages.channel_out, extent(k.prefetch * tile / k.unroll),
                    PrefetchBoundStrategy::NonFaulting);
}

void tile_sum(ConvStages &stages, const CpuTileKnobs &k, const ConvLoops &shape, const Lanes &lanes,
              const Loops &loops) {
    const Var &x = stages.x, &row = stages.row;
    Var x_lane("x_lane");
    stages.sum.compute_at(stages.output, loops.tile)
        .store_in(MemoryType::Register)
        .bound(stages.lane, 0, lanes.channels)
        .bound(stages.vector, 0, extent(k.vectors))
        .bound(row, 0, extent(k.rows))
        .bound_extent(stages.y_tile, 1)
        .vectorize(stages.lane)
        .unroll(stages.vector)
        .unroll(row);
    if (lanes.pixels > 1) {
        stages.sum.bound_extent(x, extent(k.pixels * lanes.pixels))
            .split(x, x, x_lane, lanes.pixels, TailStrategy::RoundUp);
        stages.sum.reorder_storage(x, stages.vector).reorder(x_lane, stages.lane).vectorize(x_lane);
    }
    stages.sum.unroll(x);
    RVar channel(stages.taps[0]), column(stages.taps[1]), kernel_row(stages.taps[2]), plane(stages.taps[3]);
    RVar channel_out = stages.channel_out, channel_in = stages.channel_in;
    Stage update = stages.sum.update();
    update.split(channel, channel_out, channel_in, extent(k.unroll));
    if (lanes.pixels > 1) update.split(x, x, x_lane, lanes.pixels, TailStrategy::RoundUp);
    if (k.turned) {  // each line of the copy comes once for all taps
        update.reorder(stages.lane, stages.vector, x, row, channel_in, column, kernel_row, channel_out, plane);
    } else if (k.spread >= 2) {
        update.reorder(stages.lane, stages.vector, x, row, column, channel_in, channel_out, kernel_row, plane);
    } else {
        update.reorder(stages.lane, stages.vector, x, row, channel_in, channel_out, column, kernel_row, plane);
    }
    if (lanes.pixels > 1) update.reorder(x_lane, stages.lane).vectorize(x_lane);
    if (shape.parts > 1) {
        const RVar part(stages.taps[4]);
        update.atomic().reorder(part, stages.lane).vectorize(part);
    }
    update.vectorize(stages.lane).unroll(stages.vector).unroll(x).unroll(row).unroll(channel_in);
    if (k.unroll_columns) update.unroll(column);
    if (k.unroll_rows) update.unroll(kernel_row);
    if (k.prefetch && shape.groups == 1) fetch_ahead(stages, update, k, shape);
}

// Columns of a channel are side by side in the copy; the input is read in vectors of channels.
void copy_turned(ConvStages &stages) {
    Var column("column"), channel("channel"), channel_tile("channel_tile");
    stages.padded.reorder_storage(stages.x, stages.y, stages.z, stages.c, stages.n)
        .align_bounds(stages.x, copied_side)
        .split(stages.x, stages.x, column, copied_side, TailStrategy::RoundUp)
        .split(stages.c, channel_tile, channel, copied_side, TailStrategy::RoundUp)
        .reorder(column, channel, channel_tile, stages.x, stages.y, stages.z, stages.n)
        .vectorize(column)
        .unroll(channel);
    keep_in_registers(stages.turned_input, stages.padded, channel_tile);
}

// A copy of the input: with its padding, its holes, or its channels together.
void copy_input(ConvStages &stages, const CpuTileKnobs &k, const ConvLoops &shape, int lanes, const Loops &loops) {
    if (k.stage_input == 2) {
        stages.padded.compute_root();
        if (k.parallel) stages.padded.parallel(stages.y);
    } else {
        stages.padded.compute_at(stages.output, k.stage_input == 4 ? loops.x_block : loops.block);
        if (k.stage_input == 3) stages.padded.store_root();
    }
    if (k.turned) return copy_turned(stages);
    const TailStrategy guarded = TailStrategy::GuardWithIf;  // any other reads input that does not exist
    if ((shape.input_block == 1 || k.lanes == 1) && shape.groups == 1 &&
        shape.parts == 1) {  // NCHW: rows are contiguous in the copy
        stages.padded.reorder_storage(stages.x, stages.y, stages.z, stages.c, stages.n)
            .reorder(stages.x, stages.y, stages.z, stages.c, stages.n)
            .vectorize(stages.x, lanes, guarded);
        return;
    }
    const bool has_rows = k.join_columns || shape.joined;
    const int64_t contiguous = has_rows ? shape.input_channels * shape.input[0] : shape.all_input_channels();
    const int most = extent(std::min<int64_t>(lanes, contiguous) * shape.parts);
    const bool is_plain = !has_rows && shape.parts == 1 && !shape.folds();
    stages.padded.vectorize(stages.c, is_plain ? piece_of_vector(shape.input_block, most) : most, guarded);
}

// What a depthwise convolution in front makes of the input: some pixels of a vector of channels at a time.
void compute_input(ConvStages &stages, const CpuTileKnobs &k, const ConvLoops &shape, int lanes, const Loops &loops) {
    const TailStrategy guarded = TailStrategy::GuardWithIf;  // any other reads input and weights that do not exist
    Var lane("channel_lane"), xi("xi"), yi("yi");
    int width = lanes;
    while (width > 4 && shape.input_channels % width != 0) width /= 2;
    if (shape.input_channels % width != 0) width = lanes;
    stages.padded.compute_at(stages.output, k.stage_input == 4 ? loops.x_block : loops.block)
        .split(stages.c, stages.c, lane, width, guarded)
        .split(stages.x, stages.x, xi, extent(k.depthwise_pixels), guarded)
        .split(stages.y, stages.y, yi, extent(k.depthwise_rows), guarded)
        .reorder(lane, xi, yi, stages.c, stages.x, stages.y, stages.z, stages.n)
        .vectorize(lane)
        .unroll(xi)
        .unroll(yi);
}

}  // namespace

bool adds_twice(const CpuTileKnobs &k, const ConvLoops &shape, const Target &target) {
    const Lanes lanes = lanes_of(k, target);
    const bool is_shifted = lanes.pixels > 1 && !is_row_of_tiles(k, shape, lanes);
    return shape.adds_tensor && !shape.scatters() && is_shifted;
}

void apply_cpu_tile(ConvStages &stages, const CpuTileKnobs &k, const ConvLoops &shape, const Target &target) {
    const Lanes lanes = lanes_of(k, target);
    if (stages.scattered.defined()) {
        scatter_output(stages.output, stages.scattered,
                       {stages.c, stages.x, stages.y, lanes.of_vector(), stages.scattered_block, k.parallel != 0});
    }
    const Loops loops = tile_output(stages, k, shape, lanes);
    if (lanes.pixels == 1 && !k.masked) {
        const TileExtents tile{.lanes = lanes.channels, .vectors = k.vectors, .columns = k.pixels, .rows = k.rows};
        const bool is_whole =
            shape.output[1] % k.rows == 0 && tail_of_row(k, shape, lanes) == TailStrategy::ShiftInwards;
        compute_numbers(stages, loops.tile, tile, shape, is_whole);
    }
    if (stages.sum.defined()) tile_sum(stages, k, shape, lanes, loops);
    if (stages.spread.defined()) spread_input(stages, k, shape, lanes.channels);
    if (shape.is_input_computed()) return compute_input(stages, k, shape, lanes.of_vector(), loops);
    if (stages.padded.defined() && k.stage_input) copy_input(stages, k, shape, lanes.of_vector(), loops);
}

}  // namespace kiln
