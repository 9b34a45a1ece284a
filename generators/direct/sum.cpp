#include "generators/direct/sum.h"

#include <algorithm>
#include <array>

#include "generators/activation.h"
#include "generators/direct/panel_form.h"
#include "generators/shared_rows.h"

namespace kiln {

using Halide::Expr;
using Halide::RDom;
using Halide::RVar;

namespace {

// The position that a tap reads for an output.
Expr tap(const DirectSum &sum, const Expr &out, const Expr &of_kernel, int d) {
    const ConvLoops &s = sum.loops;
    return out * extent(s.stride[d]) + of_kernel * extent(s.dilation[d]) - extent(s.pad_lo[d]);
}

Expr zero_of(const DirectSum &sum) { return sum.is_integer() ? Expr(0) : Expr(0.0f); }

// What a sum of row y begins with.
Expr first_of(const DirectSum &sum, const Expr &lane, const Expr &vector, const Expr &panel, const Expr &y) {
    if (!sum.is_integer()) return 0.0f;
    return sum.knobs.skip_rows ? sum.first(lane, vector, panel, y) : sum.first(lane, vector, panel);
}

// The part of a step that the innermost loop is at.
Expr part_of(const DirectSum &sum) { return sum.loops.parts == 1 ? Expr(0) : Expr(sum.stages.taps[4]); }

// What a step multiplies of channel `channel` of the loops.
Expr padded_input(const DirectSum &sum, const Expr &channel, const Expr &x, const Expr &y, const Expr &z) {
    const int parts = extent(sum.loops.parts);
    const Expr column = sum.knobs.turned ? x + extent(sum.loops.pad_lo[0]) : x;
    return sum.stages.padded(parts == 1 ? channel : channel * parts + part_of(sum), column, y, z, sum.stages.n);
}

struct WeightPlace {
    Expr lane, vector, ci, s, r, t, panel;
};

Expr point_of(const DirectSum &sum, const WeightPlace &w) {
    const Expr point = sum.points(part_of(sum), w.lane, w.vector, w.panel);
    const int parts = extent(sum.loops.parts);
    if (sum.filled == extent(sum.loops.input_channels) * parts) return point;
    return select(w.ci * parts + part_of(sum) < sum.filled, point, Halide::cast(point.type(), 0));
}

Expr product(const DirectSum &sum, const WeightPlace &w, const Expr &value) {
    if (!sum.is_integer()) {
        const PanelForm form(sum.knobs, sum.lanes);
        return sum.weights(form.lane(w.lane, w.vector), form.vector(w.vector), w.ci, w.s, w.r, w.t, w.panel) * value;
    }
    const ConvLoops &s = sum.loops;
    const Expr tap = (w.t * extent(s.kernel[1]) + w.r) * extent(s.kernel[0]) + w.s;
    Expr weight = sum.weights(part_of(sum), w.lane, w.vector, tap * extent(s.input_channels) + w.ci, w.panel);
    if (sum.points.defined()) weight -= point_of(sum, w);
    return Halide::cast<int32_t>(weight) * Halide::cast<int32_t>(value);
}

// Where the sum of an output channel is.
struct Lane {
    Expr channel;  // among those of all groups
    Expr lane, vector, panel;
};

Lane lane_of_output(const DirectSum &sum) {
    const ConvLoops &s = sum.loops;
    const Expr c = sum.stages.c, b = sum.stages.b;
    const Expr co = channel_of({s.output_channels, s.output_block}, c, b), in_panels = s.group_panels ? c : co;
    Expr panel = in_panels / sum.panel_width();
    if (s.group_panels) panel += b * sum.panels_of_group();
    return {co, in_panels % sum.lanes, (in_panels / sum.lanes) % sum.vectors(), panel};
}

// The input channel of a depthwise output, given its vector among all and its lane. Lanes behind the last output may read
// any channel: whole vectors stay whole, so that they are loaded as they lie.
Expr depthwise_channel(const DirectSum &sum, const Expr &vector, const Expr &lane) {
    const ConvLoops &s = sum.loops;
    const int groups = extent(s.groups), outputs = extent(s.group_outputs()), lanes = sum.lanes;
    const int64_t read = (s.output_channels + sum.panel_width() - 1) / sum.panel_width() * sum.panel_width();
    const int64_t there = (s.groups + s.input_block - 1) / s.input_block * s.input_block;
    const Expr output = vector * lanes + lane;
    if (sum.knobs.masked) return output;
    if (outputs == 1 && std::max(read, s.stored_channels()) <= there) return output;
    if (outputs == 1 && s.groups % lanes == 0) return min(vector * lanes, groups - lanes) + lane;
    return min(output / outputs, groups - 1);
}

// The sum written out, for few taps of one channel (depthwise): no accumulator to keep, and outputs of a tile share
// their loads.
Expr written_out(const DirectSum &sum) {
    const ConvLoops &s = sum.loops;
    const ConvStages &g = sum.stages;
    const Lane at = lane_of_output(sum);
    const Expr channel = depthwise_channel(sum, at.panel * sum.vectors() + at.vector, at.lane);
    Expr total = first_of(sum, at.lane, at.vector, at.panel, g.y);
    for (int t = 0; t < s.kernel[2]; t++) {
        for (int r = 0; r < s.kernel[1]; r++) {
            for (int c = 0; c < s.kernel[0]; c++) {
                total +=
                    product(sum, {at.lane, at.vector, 0, c, r, t, at.panel},
                            padded_input(sum, channel, tap(sum, g.x, c, 0), tap(sum, g.y, r, 1), tap(sum, g.z, t, 2)));
            }
        }
    }
    return total;
}

// The first input channel of the group that a lane's output belongs to. Lanes behind the last output belong to none.
Expr group_start(const DirectSum &sum) {
    const ConvLoops &s = sum.loops;
    const ConvStages &g = sum.stages;
    const int outputs = extent(s.group_outputs()), inputs = extent(s.input_channels), lanes = sum.lanes;
    if (s.group_panels) return g.panel / sum.panels_of_group() * inputs;
    const Expr vector = g.panel * sum.vectors() + g.vector;  // of all outputs
    if (inputs == 1 && s.groups > 1) return depthwise_channel(sum, vector, g.lane);
    Expr first;
    if (outputs % lanes == 0) {
        first = vector / (outputs / lanes) * inputs;
    } else if (lanes % outputs == 0) {
        first = (vector * (lanes / outputs) + g.lane / outputs) * inputs;
    } else {
        first = (vector * lanes + g.lane) / outputs * inputs;
    }
    const bool ragged = s.output_channels % sum.panel_width() != 0 || s.stored_channels() != s.output_channels;
    return ragged ? min(first, extent(s.groups - 1) * inputs) : first;
}

// What each lane of a vector of outputs needs of one step of its group's channels.
void spread_over_lanes(const DirectSum &sum) {
    ConvStages &g = sum.stages;
    g.spread(g.lane, g.ci, g.vector, g.panel, g.x, g.y, g.z, g.n) =
        g.padded(group_start(sum) + g.ci, g.x, g.y, g.z, g.n);
}

// The same where the lanes of a vector read whole groups: neighbours in memory, loaded as they lie.
void spread_densely(const DirectSum &sum) {
    ConvStages &g = sum.stages;
    const int inputs = extent(sum.loops.input_channels), outputs = extent(sum.loops.group_outputs());
    const Expr vector = g.panel * sum.vectors() + g.vector;
    g.dense(g.lane, g.vector, g.panel, g.x, g.y, g.z, g.n) =
        g.padded(vector * (sum.lanes / outputs * inputs) + g.lane, g.x, g.y, g.z, g.n);
    g.spread(g.lane, g.ci, g.vector, g.panel, g.x, g.y, g.z, g.n) =
        g.dense(g.lane / outputs * inputs + g.ci, g.vector, g.panel, g.x, g.y, g.z, g.n);
}

// The input for one step of the sum, at rows and planes iy, iz.
Expr input_of_step(const DirectSum &sum, const Expr &iy, const Expr &iz) {
    const ConvLoops &s = sum.loops;
    ConvStages &g = sum.stages;
    const RVar ci(g.taps[0]), column(g.taps[1]);
    if (s.joined) {
        const Expr position = g.x * extent(s.stride[0]) - extent(s.pad_lo[0]);
        const Expr in_row = s.parts == 1 ? Expr(ci) : ci * extent(s.parts) + part_of(sum);
        return g.padded(in_row + position * extent(s.joined), 0, iy, iz, g.n);
    }
    const Expr ix = tap(sum, g.x, column, 0);
    if (s.groups == 1) return padded_input(sum, ci, ix, iy, iz);
    if (s.parts > 1) return padded_input(sum, group_start(sum) + ci, ix, iy, iz);
    sum.knobs.spread == 3 ? spread_densely(sum) : spread_over_lanes(sum);
    return g.spread(g.lane, ci, g.vector, g.panel, ix, iy, iz, g.n);
}

// Taps in the padding are left out as bounds of the loops: of rows where the knob says so, and of planes where padding is zero.
void skip_padding(const DirectSum &sum, const Expr &iy, const Expr &iz) {
    const Exprs at{0, 0, iy, iz, sum.stages.n};
    if (sum.knobs.skip_rows && sum.loops.reads_outside(1)) sum.stages.taps.where(is_inside(sum.loops.position(1), at));
    if (sum.loops.reads_outside(2) && !sum.loops.padding_counts)
        sum.stages.taps.where(is_inside(sum.loops.position(2), at));
}

// So are taps that the panel's phase of the output does not have, where a panel is of one phase.
void skip_missing_taps(const DirectSum &sum) {
    const ConvLoops &s = sum.loops;
    RDom &taps = sum.stages.taps;
    if (!s.skips_missing_taps(sum.panel_width())) return;
    const Exprs at{0, sum.stages.panel * sum.panel_width(), 0, taps[1], taps[2], taps[3]};
    const bool unrolled[3] = {sum.knobs.unroll_columns || s.joined, sum.knobs.unroll_rows != 0, false};
    for (int d = 0; d < 3; d++) {
        const Place &place = s.kernel_map[stored_kernel_index::s + d];
        if (!unrolled[d] && place.form.depends_on(kernel_index::co)) taps.where(is_in_range(place, at));
    }
}

// Sums of loops over channels, columns, rows and planes of the kernel.
void define_taps(const DirectSum &sum, int64_t row_taps) {
    const ConvLoops &s = sum.loops;
    std::vector<Halide::Range> loops{
        {0, extent(s.input_channels)}, {0, extent(s.kernel[0])}, {0, extent(row_taps)}, {0, extent(s.kernel[2])}};
    if (s.parts > 1) loops.emplace_back(0, extent(s.parts));
    sum.stages.taps = RDom(loops, "taps");
}

void sum_over_taps(const DirectSum &sum) {
    ConvStages &g = sum.stages;
    define_taps(sum, sum.loops.kernel[1]);
    const RVar ci(g.taps[0]), s(g.taps[1]), r(g.taps[2]), t(g.taps[3]);
    const Expr iy = tap(sum, g.y_tile * sum.rows() + g.row, r, 1), iz = tap(sum, g.z, t, 2);
    skip_padding(sum, iy, iz);
    skip_missing_taps(sum);
    const Expr value = input_of_step(sum, iy, iz);
    g.sum(g.lane, g.vector, g.panel, g.x, g.row, g.y_tile, g.z, g.n) =
        first_of(sum, g.lane, g.vector, g.panel, g.y_tile * sum.rows() + g.row);
    g.sum(g.lane, g.vector, g.panel, g.x, g.row, g.y_tile, g.z, g.n) +=
        product(sum, {g.lane, g.vector, ci, s, r, t, g.panel}, value);
}

// The sum runs over the input rows of the whole tile, each read once for all output rows that need it.
void sum_over_shared_rows(const DirectSum &sum) {
    ConvStages &g = sum.stages;
    const SharedRows rows(sum.loops, sum.rows());
    define_taps(sum, rows.taps());
    const RVar ci(g.taps[0]), s(g.taps[1]), r(g.taps[2]), t(g.taps[3]);
    const Expr iy = g.y_tile * rows.step() - extent(sum.loops.pad_lo[1]) + r, iz = tap(sum, g.z, t, 2);
    skip_padding(sum, iy, iz);
    skip_missing_taps(sum);
    const Expr value = input_of_step(sum, iy, iz);
    const Expr kernel_row = rows.kernel_row(r, g.row);
    const Expr there = product(sum, {g.lane, g.vector, ci, s, rows.known(kernel_row), t, g.panel}, value);
    g.sum(g.lane, g.vector, g.panel, g.x, g.row, g.y_tile, g.z, g.n) =
        first_of(sum, g.lane, g.vector, g.panel, g.y_tile * sum.rows() + g.row);
    g.sum(g.lane, g.vector, g.panel, g.x, g.row, g.y_tile, g.z, g.n) +=
        rows.where_there(kernel_row, there, zero_of(sum));
}

}  // namespace

Expr direct_sum(const DirectSum &sum) {
    ConvStages &g = sum.stages;
    if (sum.knobs.inline_sum) return written_out(sum);
    sum.knobs.share_rows ? sum_over_shared_rows(sum) : sum_over_taps(sum);
    const Lane at = lane_of_output(sum);
    return g.sum(at.lane, at.vector, at.panel, g.x, g.y % sum.rows(), g.y / sum.rows(), g.z, g.n);
}

}  // namespace kiln
