#include "schedules/apply/depthwise/step_tile.h"

#include "schedules/apply/extent.h"
#include "schedules/spaces/depthwise/step_tile_space.h"

namespace kiln {
namespace {

using namespace Halide;

// Where the other stages are computed.
struct Loops {
    Var tile, tiles;  // over register tiles, over tiles of rows
    Var outer;        // outside of both: steps are kept in it
};

Loops tile_output(StepStages &stages, const StepTileKnobs &k, int lanes) {
    Func &out = stages.output;
    const Var &z = stages.z, &n = stages.n;
    Var lane("lane"), panel("panel"), c_block("c_block"), xi("xi"), x_tile("x_tile"), yi("yi"), y_tile("y_tile"),
        y_block("y_block"), task("task");
    if (k.in_lanes) {  // each vector of results has channels of all panels
        out.split(stages.c, c_block, lane, lanes * extent(k.block)).split(c_block, c_block, panel, 1);
    } else {
        out.split(stages.c, panel, lane, lanes, TailStrategy::GuardWithIf)
            .split(panel, c_block, panel, extent(k.block), TailStrategy::GuardWithIf);
    }
    out.split(stages.x, x_tile, xi, extent(k.pixels), TailStrategy::GuardWithIf)
        .split(stages.y, y_tile, yi, extent(k.rows), TailStrategy::GuardWithIf)
        .vectorize(lane)
        .unroll(xi)
        .unroll(yi);
    if (k.by_channels) {
        out.reorder(lane, xi, yi, panel, x_tile, y_tile, c_block, z, n);
    } else {
        out.reorder(lane, xi, yi, panel, c_block, x_tile, y_tile, z, n);
    }
    Loops made{panel, y_tile, k.by_channels ? c_block : z};
    if (has_whole_blocks(k)) {
        out.unroll(panel);
        made.tile = k.by_channels ? x_tile : c_block;
    }
    if (!k.row_block) return made;
    out.split(y_tile, y_block, y_tile, extent(k.row_block), TailStrategy::GuardWithIf);
    if (k.by_channels) out.reorder(y_tile, c_block, y_block);
    if (!k.by_channels) made.outer = y_block;
    if (!k.parallel) return made;
    out.fuse(y_block, z, task).fuse(task, n, task).parallel(task);
    if (!k.by_channels) made.outer = task;
    return made;
}

void tile_sum(StepStages &stages, const StepTileKnobs &k, const ConvLoops &loops, const Loops &made, int lanes) {
    stages.sum.compute_at(stages.output, made.tile)
        .store_in(MemoryType::Register)
        .bound(stages.lane, 0, lanes)
        .bound_extent(stages.pixel, extent(k.pixels))
        .bound_extent(stages.x_tile, 1)
        .bound_extent(stages.row, extent(k.rows))
        .bound_extent(stages.y_tile, 1)
        .vectorize(stages.lane)
        .unroll(stages.pixel)
        .unroll(stages.row);
    const RVar part(stages.taps[0]), group(stages.taps[1]), row(stages.taps[2]), plane(stages.taps[3]);
    Stage update = stages.sum.update();
    update.reorder(part, stages.lane, stages.pixel, stages.row, group, row, plane);
    if (has_whole_blocks(k)) {
        stages.sum.bound_extent(stages.panel, extent(k.block)).unroll(stages.panel);
        update.reorder(part, stages.lane, stages.pixel, stages.row, stages.panel, group, row, plane)
            .unroll(stages.panel);
    }
    update.atomic().vectorize(part).vectorize(stages.lane).unroll(stages.pixel).unroll(stages.row).unroll(group);
    if (shares_input_rows(loops, k)) update.unroll(row);
}

// Makes a stage of steps in vectors of bytes, in registers.
void keep_vectors(Func &stage, const StepStages &stages, const Var &step, const StepBlock &block, int parts) {
    const int places = block.channels * parts;
    Var vector("vector");
    stage.store_in(MemoryType::Register)
        .bound_extent(stages.place, places)
        .split(stages.place, vector, stages.place, block.channels)
        .vectorize(stages.place)
        .unroll(vector)
        .unroll(step);
}

void make_steps_in_tile(StepStages &stages, const StepTileKnobs &k, const StepBlock &block) {
    const RVar row(stages.taps[2]);
    const int places = block.channels * block.parts;
    if (k.in_lanes) {
        for (Func *stage : {&stages.bytes, &stages.pairs}) {
            stage->compute_at(stages.sum, row);
            keep_vectors(*stage, stages, stages.pair, block, 2);
        }
        stages.steps.compute_at(stages.sum, row);
        return keep_vectors(stages.steps, stages, stages.step, block, block.parts);
    }
    stages.steps.compute_at(stages.sum, row)
        .store_in(MemoryType::Register)
        .bound_extent(stages.place, places)
        .vectorize(stages.place)
        .unroll(stages.step);
    if (!stages.pairs.defined()) return;
    stages.pairs.compute_at(stages.sum, row)
        .store_in(MemoryType::Register)
        .bound_extent(stages.place, places / 2)
        .vectorize(stages.place)
        .unroll(stages.pair);
}

void make_steps(StepStages &stages, const StepTileKnobs &k, const StepBlock &block, const Loops &made) {
    const int places = block.channels * block.parts;
    stages.steps.compute_at(stages.output, made.tiles)
        .store_at(stages.output, made.outer)
        .bound(stages.place, 0, places)
        .align_storage(stages.place, places);
    if (k.in_lanes) {
        Var vector("vector");
        stages.steps.split(stages.place, vector, stages.place, block.channels).vectorize(stages.place).unroll(vector);
        for (Func *stage : {&stages.bytes, &stages.pairs}) {
            stage->compute_at(stages.steps, stages.step);
            keep_vectors(*stage, stages, stages.pair, block, 2);
        }
        return;
    }
    stages.steps.vectorize(stages.place);
    if (!stages.pairs.defined()) return;
    stages.pairs.compute_at(stages.steps, stages.y)
        .bound(stages.place, 0, places / 2)
        .align_storage(stages.place, places / 2)
        .vectorize(stages.place);
}

void copy_input(StepStages &stages) {
    if (stages.copied.empty()) return;
    stages.padded.compute_at(stages.steps, stages.y);
    for (size_t i = 0; i < stages.copied.size(); i++) {
        const auto &[channels, lanes] = stages.copied[i];
        RVar channel(channels[0]), vector("vector"), lane("lane");
        stages.padded.update(static_cast<int>(i))
            .split(channel, vector, lane, lanes)
            .vectorize(lane)
            .reorder(lane, vector, stages.x, stages.y, stages.z, stages.n);
    }
}

}  // namespace

void apply_step_tile(StepStages &stages, const StepTileKnobs &k, const ConvLoops &loops, const StepBlock &block) {
    const Loops made = tile_output(stages, k, block.lanes);
    const TileExtents tile{
        .lanes = block.lanes, .vectors = has_whole_blocks(k) ? k.block : 1, .columns = k.pixels, .rows = k.rows};
    compute_numbers(stages, made.tile, tile, loops, tile.divides_image(loops) || !stages.numbers.read_results);
    tile_sum(stages, k, loops, made, block.lanes);
    k.in_tile ? make_steps_in_tile(stages, k, block) : make_steps(stages, k, block, made);
    copy_input(stages);
}

}  // namespace kiln
