#include "runtime/fallback/block.h"
#include "runtime/fallback/element_runs.h"

namespace kiln {
namespace {

// Loads the weights at [depth][column], each index with its stride, from element `first` on.
struct Panel {
    int64_t first, depth_stride, column_stride;
    int depth, columns;
};

void load_panel(const FallbackProblem &p, const Panel &panel, float *to) {
    const int32_t dtype = p.map.weights.dtype;
    if (panel.column_stride <= panel.depth_stride) {
        for (int s = 0; s < panel.depth; s++) {
            const int64_t first = panel.first + s * panel.depth_stride;
            load_elements(p.right, {dtype, first, panel.column_stride, panel.columns}, to + s * column_block, 1);
        }
    } else {
        for (int c = 0; c < panel.columns; c++) {
            const int64_t first = panel.first + c * panel.column_stride;
            load_elements(p.right, {dtype, first, panel.depth_stride, panel.depth}, to + c, column_block);
        }
    }
}

void subtract_zero_points(const int32_t *zero_points, int depth, int columns, float *to) {
    for (int s = 0; s < depth; s++) {
        for (int c = 0; c < columns; c++) to[s * column_block + c] -= static_cast<float>(zero_points[c]);
    }
}

}  // namespace

// The column is a channel of the result, the depth one of the left operand.
void load_right_taps(const FallbackBlock &b, int runs) {
    const FallbackProblem &p = b.problem;
    const Weights &form = p.map.weights;
    const bool forward = !p.map.walks_input;
    const int64_t depth_stride = forward ? form.input_stride : form.output_stride;
    const int64_t column_stride = forward ? form.output_stride : form.input_stride;
    const int64_t group_stride = p.map.extents.group_outputs * form.output_stride;
    for (int r = 0; r < runs; r++) {
        const TapRun &run = b.scratch.taps[r];
        for (int column = 0; column < b.columns;) {
            const int64_t inside = (b.first_column + column) % p.group_columns;
            const int64_t group = b.group + (b.first_column + column) / p.group_columns;
            const int columns = smaller(p.group_columns - inside, b.columns - column);
            const int64_t first =
                run.weights + group * group_stride + run.channel * depth_stride + inside * column_stride;
            load_panel(p, {first, depth_stride, column_stride, run.count, columns},
                       b.scratch.right + run.first * column_block + column);
            if (form.zero_points != nullptr) {
                subtract_zero_points(form.zero_points + group * p.map.extents.group_outputs + inside, run.count,
                                     columns, b.scratch.right + run.first * column_block + column);
            }
            column += columns;
        }
    }
}

void load_right_places(const FallbackBlock &b, int places) {
    const Activation &form = b.map().walked();
    const int64_t channel = b.group * form.group_channels + b.first_column;
    for (int s = 0; s < places; s++) {
        float *to = b.scratch.right + s * column_block;
        load_channels(form, b.problem.right, b.scratch.places[s].pixel, channel, b.columns, to, 1);
    }
}

}  // namespace kiln
