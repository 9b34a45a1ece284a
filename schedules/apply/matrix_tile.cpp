#include "schedules/apply/matrix_tile.h"

#include <algorithm>

#include "schedules/apply/channel_loop.h"
#include "schedules/apply/extent.h"
#include "schedules/spaces/matrix/matrix_steps.h"
#include "workload/division.h"

namespace kiln {
namespace {

using namespace Halide;

struct Loops {
    Var block, panel;
};

Loops block_output(MatrixStages &stages, const MatrixTileKnobs &k, const ConvLoops &shape) {
    Func &out = stages.output;
    Var lane("lane_out"), panel("panel_out"), block("block"), inner("inner"), task("task");
    split_channels(out, stages.c, stages.b, shape, panel, lane, extent(matrix_outputs), TailStrategy::GuardWithIf);
    const Var &cut = is_one_row(shape) ? stages.x : stages.y, &whole = is_one_row(shape) ? stages.y : stages.x;
    const int64_t width = is_one_row(shape) ? k.block * matrix_positions : k.block;
    out.split(cut, block, inner, extent(width), TailStrategy::GuardWithIf);
    if (is_one_row(shape)) {
        out.reorder(lane, inner, whole, panel, block, stages.z, stages.n);
    } else {
        out.reorder(lane, whole, inner, panel, block, stages.z, stages.n);
    }
    // In code of its own for the last panel, Halide 21 would not see where that panel's weights begin.
    out.vectorize(lane).never_partition_all();
    if (k.parallel == 2) out.parallel(panel);
    if (k.parallel != 1) return {block, panel};
    out.fuse(block, stages.z, task).fuse(task, stages.n, task).parallel(task);
    return {task, panel};
}

// The rows of the input that a block reads.
void copy_rows(MatrixStages &stages, const MatrixTileKnobs &k, const ConvLoops &shape, const Loops &loops) {
    const int64_t bytes = stages.rows.type().bytes(), most_lanes = 64 / bytes;
    const int64_t row = row_positions(shape);
    const int64_t read = block_positions(shape, k.block) + (shape.kernel[1] - 1) * row + shape.kernel[0] - 1;
    const int lanes = extent(std::min(most_lanes, shape.input_channels));
    RVar channels("channels"), lane("lane_in");
    Var in_row("in_row"), line("line");
    stages.rows.compute_at(stages.output, loops.block)
        .bound_extent(stages.c, extent(matrix_steps(shape, bytes).channels()))
        .bound_extent(stages.p, extent(is_one_row(shape) ? read : ceil_div(read, row) * row));
    Stage update = stages.rows.update();
    update.split(stages.channels.x, channels, lane, lanes, TailStrategy::GuardWithIf).vectorize(lane);
    if (is_one_row(shape)) {
        update.reorder(lane, channels, stages.p, stages.n);
    } else {
        update.split(stages.p, line, in_row, extent(row)).reorder(lane, channels, in_row, line, stages.n);
    }
}

// A product is one vector for Halide: channels of a step, steps, outputs, positions. What is stored must not be one dense vector, or
// Halide 21 does not see rows in it.
void multiply(MatrixStages &stages, const MatrixTileKnobs &k, const ConvLoops &shape, const Loops &loops) {
    const int outputs = extent(matrix_outputs), positions = extent(matrix_positions);
    Var tile("tile"), position("position");
    stages.sums.compute_at(stages.output, loops.panel)
        .align_storage(stages.lane, 2 * outputs)
        .bound(stages.lane, 0, outputs)
        .bound_extent(stages.p, extent(block_positions(shape, k.block)))
        .bound_extent(stages.panel, 1)
        .split(stages.p, tile, position, positions)
        .reorder(stages.lane, position, tile, stages.panel, stages.n)
        .vectorize(stages.lane)
        .vectorize(position);
    stages.products.compute_at(stages.sums, tile)
        .store_in(MemoryType::AMXTile)
        .bound(stages.lane, 0, outputs)
        .bound_extent(stages.p, positions)
        .bound_extent(stages.panel, 1)
        .bound_extent(stages.n, 1)
        .vectorize(stages.lane)
        .vectorize(stages.p);
    const RVar channel(stages.taps[0]), product(stages.taps[1]), s(stages.taps[2]), r(stages.taps[3]);
    stages.products.update()
        .reorder(channel, stages.lane, stages.p, product, s, r, stages.panel, stages.n)
        .atomic()
        .vectorize(channel)
        .vectorize(stages.lane)
        .vectorize(stages.p);
}

}  // namespace

void apply_matrix_tile(MatrixStages &stages, const MatrixTileKnobs &k, const ConvLoops &shape) {
    const Loops loops = block_output(stages, k, shape);
    multiply(stages, k, shape, loops);
    if (stages.rows.defined()) copy_rows(stages, k, shape, loops);
}

}  // namespace kiln
