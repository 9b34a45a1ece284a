#include "schedules/apply/depthwise/channel_tile.h"

#include "schedules/apply/channel_loop.h"
#include "schedules/apply/extent.h"
#include "schedules/spaces/depthwise/channel_tile_space.h"
#include "schedules/turned_columns.h"

namespace kiln {
namespace {

using namespace Halide;

// Where the other stages are computed.
struct Loops {
    Func tiled;    // the stage that register tiles are cut out of
    Var x_tile;    // its innermost loop outside of them
    Var channels;  // of the output: over vectors of channels
};

// The loops of a stage that is cut into register tiles of columns and rows.
struct Tiles {
    Var xi{"xi"}, yi{"yi"}, x_tile{"x_tile"}, y_tile{"y_tiles"};
};

Tiles cut_tiles(Func &stage, const ChannelStages &stages, const ChannelTileKnobs &k, TailStrategy below) {
    Tiles t;
    stage.split(stages.x, t.x_tile, t.xi, extent(k.pixels), TailStrategy::ShiftInwards)
        .split(stages.y, t.y_tile, t.yi, extent(k.rows), below)
        .unroll(t.xi)
        .unroll(t.yi);
    return t;
}

// The loop over vectors of channels: perhaps with all outside of it, in parallel.
Var outer_loop(ChannelStages &stages, const ChannelTileKnobs &k) {
    if (!k.parallel) return stages.vector;
    Var task("task");
    stages.output.fuse(stages.vector, stages.z, task).fuse(task, stages.n, task).parallel(task);
    return task;
}

// The sums of a vector of channels, which become rows. A channel's rows are one, so that tiles of columns are whole.
Loops turn_output(ChannelStages &stages, const ChannelTileKnobs &k, const ConvLoops &loops, int lanes) {
    Func &out = stages.output;
    const int columns = extent(turned_columns(lanes));
    Var in_vector("in_vector"), column("column_in"), column_tile("column_tile");
    out.split(stages.b, stages.vector, in_vector, lanes, TailStrategy::GuardWithIf)
        .split(stages.x, column_tile, column, columns, TailStrategy::PredicateStores)
        .reorder(column, in_vector, column_tile, stages.vector, stages.z, stages.n)
        .vectorize(column)
        .unroll(in_vector);
    keep_in_registers(stages.turned_sums, out, column_tile);
    const Var channels = outer_loop(stages, k);
    stages.sums.compute_at(out, channels)
        .bound(stages.lane, 0, lanes)
        .bound(stages.x, 0, extent(loops.output[0]))
        .vectorize(stages.lane);
    const Tiles t = cut_tiles(stages.sums, stages, k, TailStrategy::RoundUp);
    stages.sums.reorder(stages.lane, t.xi, t.yi, t.x_tile, t.y_tile, stages.vector, stages.z, stages.n);
    return {stages.sums, t.x_tile, channels};
}

// Sums that are stored as they are computed: in vectors, or in the pieces of these that memory has.
Loops store_output(ChannelStages &stages, const ChannelTileKnobs &k, const ConvLoops &loops, int lanes) {
    Func &out = stages.output;
    Var lane("lane_out"), piece("piece");
    const Tiles t = cut_tiles(out, stages, k, TailStrategy::GuardWithIf);
    if (channels_in_memory(loops.stored_result, lanes) == ChannelsInMemory::in_pieces) {
        split_channels(out, stages.c, stages.b, loops, stages.vector, lane, lanes, TailStrategy::GuardWithIf);
        out.split(lane, piece, lane, extent(loops.stored_result.block)).unroll(piece);
        out.reorder(lane, piece, t.xi, t.yi, t.x_tile, t.y_tile, stages.vector, stages.z, stages.n);
    } else {
        split_channels(out, stages.c, stages.b, loops, stages.vector, lane, lanes, TailStrategy::PredicateStores);
        out.reorder(lane, t.xi, t.yi, t.x_tile, t.y_tile, stages.vector, stages.z, stages.n);
    }
    out.vectorize(lane);
    return {out, t.x_tile, outer_loop(stages, k)};
}

void tile_sum(ChannelStages &stages, const ChannelTileKnobs &k, const ConvLoops &loops, const Loops &made, int lanes) {
    stages.sum.compute_at(made.tiled, made.x_tile)
        .store_in(MemoryType::Register)
        .bound(stages.lane, 0, lanes)
        .bound_extent(stages.x, extent(k.pixels))
        .bound(stages.row, 0, extent(k.rows))
        .bound_extent(stages.y_tile, 1)
        .vectorize(stages.lane)
        .unroll(stages.x)
        .unroll(stages.row);
    const RVar column(stages.taps[0]), row(stages.taps[1]), plane(stages.taps[2]);
    Stage update = stages.sum.update();
    update.reorder(stages.lane, stages.x, stages.row, column, row, plane)
        .vectorize(stages.lane)
        .unroll(stages.x)
        .unroll(stages.row)
        .unroll(column);
    if (shares_input_rows(loops, k)) update.unroll(row);
}

void copy_input(ChannelStages &stages, const Loops &made, int lanes) {
    stages.copy.compute_at(stages.output, made.channels).bound(stages.lane, 0, lanes);
    for (size_t i = 0; i < stages.copied.size(); i++) {
        const ChannelStages::Copied &of = stages.copied[i];
        RVar all(of.places[0]), row(of.places[1]), tile("tile"), column("column");
        Var piece("piece"), lane("lane_in");
        Stage update = stages.copy.update(static_cast<int>(i));
        update.split(all, tile, column, of.columns)
            .split(stages.lane, piece, lane, of.lanes)
            .reorder(lane, piece, column, tile, row, stages.vector, stages.z, stages.n)
            .vectorize(lane)
            .unroll(piece)
            .unroll(column);
        if (of.is_turned) keep_in_registers(stages.turned_input, stages.copy, tile);
    }
}

}  // namespace

bool adds_twice(const ChannelTileKnobs &k, const ConvLoops &loops) {
    return loops.adds_tensor && loops.output[0] % k.pixels != 0;
}

void apply_channel_tile(ChannelStages &stages, const ChannelTileKnobs &k, const ConvLoops &loops, int lanes) {
    const bool turns = stages.turned_sums.defined();
    const Loops made = turns ? turn_output(stages, k, loops, lanes) : store_output(stages, k, loops, lanes);
    tile_sum(stages, k, loops, made, lanes);
    copy_input(stages, made, lanes);
}

}  // namespace kiln
