#include "schedules/apply/depthwise/row_tile.h"

#include <algorithm>

#include "schedules/apply/channel_loop.h"
#include "schedules/apply/extent.h"
#include "schedules/spaces/depthwise/row_tile_space.h"
#include "workload/division.h"

namespace kiln {
namespace {

using namespace Halide;

// Where the other stages are computed.
struct Loops {
    Func tiled;              // the stage that register tiles are cut out of
    Var column_tile;         // its innermost loop outside of them
    Var row_tile, channels;  // of the output: over tiles of rows, and over blocks of channels
    Var inner;               // the inner one of both
};

// Cuts a stage into register tiles, whose vectors have so many columns; answers the loop over those of a row.
Var tile_columns(Func &stage, const Var &x, const Var &rows, const RowTileKnobs &k, int64_t columns,
                 TailStrategy tail) {
    Var lane("lane"), vector("vector"), column_tile("column_tile");
    if (tail == TailStrategy::PredicateStores) {  // such a split is the last one: a row is one tile
        stage.split(x, vector, lane, extent(columns), tail).split(vector, column_tile, vector, extent(k.vectors));
    } else {
        stage.split(x, column_tile, lane, extent(columns * k.vectors), tail).split(lane, vector, lane, extent(columns));
    }
    stage.vectorize(lane).unroll(vector).unroll(rows);
    stage.reorder(lane, vector, rows, column_tile);
    return column_tile;
}

// Tiles of sums on their way to the output's channels: each is of some columns of a row.
void turn_sums(RowStages &stages, const Var &in_block, const Var &row, const Var &inner, const Var &outer) {
    Func &out = stages.output;
    Var lane("lane"), vector("vector"), column("column_in"), column_tile("column_tile");
    out.split(in_block, vector, lane, turned_side, TailStrategy::PredicateStores)
        .split(stages.x, column_tile, column, turned_side, TailStrategy::GuardWithIf)
        .reorder(lane, column, vector, column_tile, row, inner, outer, stages.z, stages.n)
        .vectorize(lane)
        .unroll(column);
    keep_in_registers(stages.turned_sums, out, vector);
}

Loops tile_output(RowStages &stages, const RowTileKnobs &k, const ConvLoops &loops) {
    Func &out = stages.output;
    const Var &x = stages.x, &z = stages.z, &n = stages.n;
    Var row("row_in"), row_tile("row_tile"), in_block("in_block"), block("block"), task("task");
    const bool shares = channels_of_vector(loops, k) > 1;
    out.split(stages.y, row_tile, row, extent(k.rows), TailStrategy::GuardWithIf);
    if (shares) {
        out.vectorize(stages.c).split(stages.b, block, in_block, 1);
    } else {
        split_channels(out, stages.c, stages.b, loops, block, in_block, extent(k.channel_block),
                       TailStrategy::GuardWithIf);
    }
    const Var &inner = k.by_rows ? block : row_tile, &outer = k.by_rows ? row_tile : block;
    Loops made{out, Var(), row_tile, block, inner};
    if (stages.in_rows.defined()) {
        made.tiled = stages.in_rows;
        made.column_tile = tile_columns(made.tiled, x, stages.row, k, k.lanes, TailStrategy::RoundUp);
        made.tiled.compute_at(out, inner).bound(stages.row, 0, extent(k.rows)).bound_extent(stages.y_tile, 1);
        Var lane("lane"), vector("vector");
        if (stages.turned_sums.defined()) {
            turn_sums(stages, in_block, row, inner, outer);
        } else {
            out.split(in_block, vector, lane, extent(std::min(k.lanes, k.channel_block)), TailStrategy::GuardWithIf)
                .reorder(lane, x, row, vector, row_tile, block, z, n)
                .vectorize(lane);
        }
    } else {
        const bool by_masks = k.masked || stages.dense.defined();
        const TailStrategy beyond = by_masks ? TailStrategy::PredicateStores : TailStrategy::GuardWithIf;
        const TailStrategy tail = computed_columns(loops, k) == loops.output[0] ? TailStrategy::ShiftInwards : beyond;
        made.column_tile = tile_columns(out, x, row, k, columns_of_vector(loops, k), tail);
        out.reorder(made.column_tile, in_block, inner, outer, z, n);
    }
    // The rows of two tiles are known, and with them which are padding.
    if (is_in_registers(k) && ceil_div(loops.output[1], k.rows) <= 2) out.unroll(row_tile);
    if (k.parallel) {
        out.fuse(outer, z, task).fuse(task, n, task).parallel(task);
        (k.by_rows ? made.row_tile : made.channels) = task;
    }
    return made;
}

void tile_sum(RowStages &stages, const RowTileKnobs &k, const ConvLoops &shape, const Loops &loops) {
    Var lane("lane"), vector("vector");
    const Var &x = stages.x, &row = stages.row;
    const int lanes = extent(columns_of_vector(shape, k)), width = extent(lanes * k.vectors);
    const bool shares = channels_of_vector(shape, k) > 1;
    stages.sum.compute_at(loops.tiled, loops.column_tile)
        .store_in(MemoryType::Register)
        .bound_extent(x, width)
        .bound(row, 0, extent(k.rows))
        .bound_extent(stages.y_tile, 1)
        .split(x, vector, lane, lanes)
        .vectorize(lane)
        .unroll(vector)
        .unroll(row);
    const RVar &column = stages.tap_column, &tap_row = stages.tap_row;
    Stage update = stages.sum.update();
    update.split(x, vector, lane, lanes)
        .reorder(lane, row, vector, k.by_columns ? tap_row : column, k.by_columns ? column : tap_row, stages.tap_plane)
        .vectorize(lane)
        .unroll(vector)
        .unroll(row)
        .unroll(column);
    if (k.unroll_rows) update.unroll(tap_row);
    if (!shares) return;
    stages.sum.bound(stages.in_block, 0, extent(channels_of_vector(shape, k))).vectorize(stages.in_block);
    update.reorder(stages.in_block, lane).vectorize(stages.in_block);
}

// Whole vectors, whatever those of the sums are. Unrolled, each vector of a short row knows its mask.
void copy_by_masks(RowStages &stages, const RowTileKnobs &k, const ConvLoops &loops) {
    Var lane("lane"), column_tile("column_tile");
    const int lanes = std::max(extent(k.lanes), turned_side), stride = extent(loops.stride[0]);
    const int tiles = extent(copied_columns(loops, k)) / lanes;
    stages.copy.bound(stages.phase, 0, stride)
        .bound(stages.x, 0, tiles * lanes)
        .split(stages.x, column_tile, lane, lanes, TailStrategy::RoundUp)
        .reorder(lane, stages.phase, column_tile, stages.y, stages.channel, stages.z, stages.n)
        .vectorize(lane)
        .unroll(stages.phase);
    if (tiles * stride <= most_copied_at_once) stages.copy.unroll(column_tile);
    stages.dense.compute_at(stages.copy, column_tile)
        .store_in(MemoryType::Register)
        .bound_extent(stages.column, lanes * stride)
        .unroll(stages.phase)
        .vectorize(stages.column, lanes * stride);
}

// What a tile reads of a row, as the rows of the kernel come to it.
void copy_in_registers(RowStages &stages, const RowTileKnobs &k, const ConvLoops &loops) {
    const int lanes = extent(columns_of_vector(loops, k)), stride = extent(loops.stride[0]);
    const int64_t shift = (loops.kernel[0] - 1) * loops.dilation[0] / stride, together = channels_of_vector(loops, k);
    const int columns = extent(ceil_div(lanes * k.vectors + shift, lanes)) * lanes;
    const auto keep = [&](Func &stage, const Var &x, int count) {
        Var lane("lane"), vector("vector");
        stage.compute_at(stages.sum, stages.tap_row)
            .store_in(MemoryType::Register)
            .bound_extent(x, count)
            .split(x, vector, lane, lanes)
            .vectorize(lane)
            .unroll(vector)
            .unroll(stages.phase);
        if (loops.kernel[1] == 1) stage.unroll(stages.y);
        if (together > 1) stage.bound(stages.in_block, 0, extent(together)).vectorize(stages.in_block);
    };
    keep(stages.copy.bound(stages.phase, 0, stride), stages.x, columns);
    if (stride > 1) keep(stages.dense, stages.column, columns * stride);
}

void copy_rows(RowStages &stages, const RowTileKnobs &k, const ConvLoops &loops, const Loops &made) {
    if (is_in_registers(k)) return copy_in_registers(stages, k, loops);
    if (k.slide) {
        stages.copy.compute_at(stages.output, made.row_tile).store_at(stages.output, made.channels);
    } else {
        stages.copy.compute_at(stages.output, made.channels);
    }
    if (stages.dense.defined()) {
        copy_by_masks(stages, k, loops);
        return;
    }
    const bool reads_columns = loops.stored_input.block == 1;
    for (size_t i = 0; i < stages.copied.size(); i++) {
        Stage update = stages.copy.update(static_cast<int>(i));
        const auto &[columns, lanes] = stages.copied[i];
        RVar column(columns[0]), vector("vector"), lane("lane");
        update.split(column, vector, lane, lanes).vectorize(lane);
        // Channels side by side are read together, while their cache lines are there.
        if (reads_columns) {
            update.reorder(lane, vector, stages.y, stages.channel, stages.z, stages.n);
        } else {
            update.reorder(lane, stages.channel, vector, stages.y, stages.z, stages.n);
        }
    }
}

// What a row of the input is for all taps of the kernel's row stays in registers.
void read_rows(RowStages &stages, const RowTileKnobs &k, const ConvLoops &loops) {
    Var lane("lane"), vector("vector");
    // With columns that are apart, whole vectors of all of them; `read` picks its own of these where it is used.
    const bool is_apart = k.masked == 2;
    Func row = is_apart ? stages.dense : stages.read;
    const Var &x = is_apart ? stages.column : stages.x;
    const int lanes = extent(k.lanes * (is_apart ? loops.stride[0] : 1));
    row.compute_at(stages.sum, stages.tap_row)
        .store_in(MemoryType::Register)
        .bound_extent(x, lanes * extent(k.vectors))
        .split(x, vector, lane, lanes)
        .vectorize(lane)
        .unroll(vector)
        .unroll(stages.tap);
    if (loops.kernel[1] == 1) row.unroll(stages.y);
}

void turn_input(RowStages &stages) {
    Var lane("lane"), channel("channel_in"), column_tile("column_tile"), channel_tile("channel_tile");
    stages.planes.split(stages.x, column_tile, lane, turned_side, TailStrategy::RoundUp)
        .split(stages.channel, channel_tile, channel, turned_side, TailStrategy::RoundUp)
        .reorder(lane, channel, channel_tile, column_tile, stages.phase, stages.y, stages.z, stages.n)
        .vectorize(lane)
        .unroll(channel);
    keep_in_registers(stages.turned_input, stages.planes, channel_tile);
}

void take_apart_columns(RowStages &stages, const RowTileKnobs &k, const ConvLoops &loops) {
    Var lane("lane"), column_tile("column_tile");
    const int lanes = extent(k.lanes), stride = extent(loops.stride[0]);
    stages.planes.bound(stages.phase, 0, stride)
        .split(stages.x, column_tile, lane, lanes, TailStrategy::RoundUp)
        .reorder(lane, stages.phase, column_tile, stages.y, stages.channel, stages.z, stages.n)
        .vectorize(lane)
        .unroll(stages.phase);
    stages.dense.compute_at(stages.planes, column_tile)
        .store_in(MemoryType::Register)
        .bound_extent(stages.column, lanes * stride)
        .unroll(stages.phase)
        .vectorize(stages.column, lanes * stride);
}

void make_planes(RowStages &stages, const RowTileKnobs &k, const ConvLoops &loops, const Loops &made) {
    Func &planes = stages.planes;
    planes.bound(stages.x, 0, extent(plane_columns(loops, k)));
    stages.dense.defined() ? take_apart_columns(stages, k, loops) : turn_input(stages);
    if (k.slide) {
        planes.compute_at(stages.output, made.row_tile).store_at(stages.output, made.channels);
    } else {
        planes.compute_at(stages.output, made.channels);
    }
}

}  // namespace

bool adds_twice(const RowTileKnobs &k, const ConvLoops &loops, bool stores_columns) {
    const bool is_shifted = stores_columns && computed_columns(loops, k) == loops.output[0];
    return loops.adds_tensor && is_shifted && loops.output[0] % (columns_of_vector(loops, k) * k.vectors) != 0;
}

void apply_row_tile(RowStages &stages, const RowTileKnobs &k, const ConvLoops &loops) {
    const Loops made = tile_output(stages, k, loops);
    tile_sum(stages, k, loops, made);
    if (!k.masked) {
        copy_rows(stages, k, loops, made);
        return;
    }
    read_rows(stages, k, loops);
    if (stages.planes.defined()) make_planes(stages, k, loops, made);
}

}  // namespace kiln
