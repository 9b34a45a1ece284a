// Direct convolution, with groups: the definition, with the output channels in panels of a register tile's width.
//
//   sum(lane, vector, panel, x, row, y_tile, z, n) = sum over (ci, s, r, t) of
//       weights(lane, vector, ci, s, r, t, panel) * padded(first(group) + ci, x * sx + s * dx - px, y * sy + r * dy -
//       py, ...)
//   output(c, x, y, z, n) = epilogue(sum(c as lane, vector, panel; y as row, y_tile))
//
// The weights are packed in exactly the order in which the sum reads them, so that a panel streams through the caches.
#include <Halide.h>

#include "generators/conv_generator.h"
#include "generators/epilogue.h"
#include "schedules/cpu_tile.h"
#include "schedules/cpu_tile_space.h"

namespace kiln {
namespace {

using namespace Halide;

class DirectConv : public ConvGenerator<DirectConv> {
public:
    Input<Buffer<float, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<float, 7>> weights{"weights"};  // lane, vector, ci, s, r, t, panel
    Input<Buffer<float, 1>> *bias = nullptr;
    Input<Buffer<float, 6>> *addend = nullptr;  // as output
    Output<Buffer<float, 6>> output{"output"};  // c in block, x, y, z, block, n

    void configure() {
        read_parameters();
        shape = panel_shape(shape, panel_lanes());
        view = candidate.knob("join_columns") ? joined_columns(shape) : shape;
        if (has_epilogue(workload, EpilogueStep::Kind::bias)) bias = add_input<Buffer<float, 1>>("bias");
        if (has_epilogue(workload, EpilogueStep::Kind::add)) addend = add_input<Buffer<float, 6>>("addend");
    }

    void generate() {
        lanes = panel_lanes(), vectors = knob("vectors"), rows = knob("rows");
        define_padded();
        const int block = extent(shape.output_block), outputs = extent(shape.output_channels);
        const Expr co = shape.output_block == shape.output_channels ? Expr(c) : block == 1 ? Expr(b) : b * block + c;
        const Expr in_panels = shape.group_panels ? Expr(c) : co;
        const Expr of_lane = in_panels % lanes, of_vector = (in_panels / lanes) % vectors;
        Expr of_panel = in_panels / (lanes * vectors);
        if (shape.group_panels) of_panel += b * group_panels();
        Expr total;
        if (knob("inline_sum")) {
            total = inline_sum(co, of_lane, of_vector, of_panel);
        } else {
            define_sum();
            total = sum(of_lane, of_vector, of_panel, x, y % rows, y / rows, z, n);
        }
        const bool filled = shape.stored_channels() != shape.output_channels;
        Expr value = apply_epilogue(workload, total, bias ? (*bias)(filled ? min(co, outputs - 1) : co) : Expr(),
                                    addend ? (*addend)(c, x, y, z, b, n) : Expr());
        if (filled) value = select(co < outputs, value, 0.0f);
        output(c, x, y, z, b, n) = value;
    }

    void schedule() {
        if (knob("join_columns")) {
            fix(input, {shape.input_channels * shape.input[0], 1, shape.input[1], shape.input[2], 1, shape.batch});
        } else {
            fix_activation(input, shape.all_input_channels(), shape.input_block, shape.input);
        }
        fix_result(output);
        if (addend) fix_result(*addend);
        if (bias) fix(*bias, {shape.output_channels});
        fix(weights, packed_extents(view));
        if (shape.reads_outside(0) || shape.reads_outside(1) || knob("stage_input")) stages.padded = padded;
        if (sum.defined()) stages.sum = sum;
        if (spread.defined()) stages.spread = spread;
        if (dense.defined()) stages.dense = dense;
        stages.output = output;
        stages.c = c, stages.b = b, stages.x = x, stages.y = y, stages.z = z, stages.n = n;
        stages.lane = lane, stages.vector = vector, stages.panel = panel;
        stages.row = row, stages.y_tile = y_tile, stages.ci = k;
        apply_cpu_tile(stages, candidate, view, target_of_kiln);
    }

private:
    template<typename BufferParameter>
    void fix_result(BufferParameter &buffer) {
        if (shape.group_panels) {
            fix_grouped_activation(buffer, shape.group_outputs(), shape.output);
        } else {
            fix_activation(buffer, shape.output_channels, shape.output_block, shape.output);
        }
    }

    static int extent(int64_t e) { return static_cast<int>(e); }
    int group_panels() const { return extent(shape.panels(int64_t(lanes) * vectors) / shape.groups); }
    int knob(const char *name) const { return extent(candidate.knob(name)); }
    Expr tap(const Expr &out, const Expr &of_kernel, int d) const {
        return out * extent(view.stride[d]) + of_kernel * extent(view.dilation[d]) - extent(view.pad_lo[d]);
    }
    Expr inside(const Expr &i, int d) const { return i >= 0 && i < extent(view.input[d]); }
    Expr clamped(const Expr &i, int d) const {
        return view.reads_outside(d) ? clamp(i, 0, extent(view.input[d]) - 1) : i;
    }

    // The input with zeros around it. Joined, it is one long row of floats, c, without x: a kernel row's columns and
    // channels are contiguous in memory and one dimension of the sum.
    void define_padded() {
        const bool join = knob("join_columns");
        const int row_floats = extent(shape.input[0] * shape.input_channels);
        const bool outside_x = shape.reads_outside(0);
        const Expr ic = join && outside_x ? clamp(c, 0, row_floats - 1) : Expr(c), ix = join ? Expr(x) : clamped(x, 0);
        const int block = extent(shape.input_block);
        const bool whole = shape.input_block == shape.all_input_channels();  // NHWC
        Expr in_block = ic % block, block_index = ic / block;
        if (whole) in_block = ic, block_index = 0;
        if (!whole && block == 1) in_block = 0, block_index = ic;
        // Tiles that do not divide the rows compute some below the last, which are not stored; their input may not
        // exist.
        const bool beyond = shape.output[1] % rows != 0;
        const Expr iy = beyond ? clamp(y, 0, extent(view.input[1]) - 1) : clamped(y, 1);
        Expr value = input(in_block, ix, iy, clamped(z, 2), block_index, n);
        if (outside_x) value = select(likely(join ? c >= 0 && c < row_floats : inside(x, 0)), value, 0.0f);
        if (view.reads_outside(1) && !knob("skip_rows")) value = select(likely(inside(y, 1)), value, 0.0f);
        if (view.reads_outside(2) && knob("inline_sum")) value = select(likely(inside(z, 2)), value, 0.0f);
        padded(c, x, y, z, n) = value;
    }

    // The first input channel of the group that a lane's output belongs to. `vector_index` counts vectors of outputs.
    Expr group_start(const Expr &of_lane, const Expr &vector_index) const {
        if (shape.groups == 1) return 0;
        if (shape.group_panels) return panel / group_panels() * extent(shape.input_channels);
        const int outputs = extent(shape.group_outputs()), inputs = extent(shape.input_channels);
        const int last = extent(shape.groups - 1) * inputs;
        const bool ragged =
            shape.output_channels % (lanes * vectors) != 0 ||
            shape.stored_channels() != shape.output_channels;  // lanes behind the last belong to no group
        Expr first;
        if (outputs % lanes == 0) {
            first = vector_index / (outputs / lanes) * inputs;
        } else if (lanes % outputs == 0) {
            first = (vector_index * (lanes / outputs) + of_lane / outputs) * inputs;
        } else {
            first = (vector_index * lanes + of_lane) / outputs * inputs;
        }
        return ragged ? min(first, last) : first;
    }

    // What each lane of a vector of outputs needs of step k of its group's channels.
    void define_spread() {
        const Expr vector_index = panel * vectors + vector;
        Expr value;
        if (knob("spread") == 3) {
            // The lanes of a vector read whole groups: neighbours in memory, loaded as they lie.
            const int inputs = extent(shape.input_channels), outputs = extent(shape.group_outputs());
            dense(lane, vector, panel, x, y, z, n) =
                padded(vector_index * (lanes / outputs * inputs) + lane, x, y, z, n);
            value = dense(lane / outputs * inputs + k, vector, panel, x, y, z, n);
        } else {
            value = padded(group_start(lane, vector_index) + k, x, y, z, n);
        }
        spread(lane, k, vector, panel, x, y, z, n) = value;
    }

    void define_sum() {
        const bool share = knob("share_rows"), skip = knob("skip_rows") && view.reads_outside(1);
        const bool join = knob("join_columns");
        const int kernel_rows = extent(view.kernel[1]), row_stride = extent(view.stride[1]);
        // Shared rows: the sum runs over the input rows of the whole tile, each read once for all output rows that need
        // it.
        const int row_taps = share ? (rows - 1) * row_stride + kernel_rows : kernel_rows;
        stages.taps = RDom(0, extent(view.input_channels), 0, extent(view.kernel[0]), 0, row_taps, 0,
                           extent(view.kernel[2]), "taps");
        const RVar ci(stages.taps[0]), s(stages.taps[1]), r(stages.taps[2]), t(stages.taps[3]);
        const Expr first_row = y_tile * (rows * row_stride) - extent(view.pad_lo[1]);
        const Expr iy = share ? first_row + r : tap(y_tile * rows + row, r, 1), iz = tap(z, t, 2);
        if (skip) stages.taps.where(inside(iy, 1));
        if (view.reads_outside(2)) stages.taps.where(inside(iz, 2));

        const Expr from_x = join ? Expr(0) : tap(x, s, 0);
        Expr value;
        if (shape.groups == 1) {
            const int channels = extent(shape.input_channels);
            const Expr from_c =
                join ? ci + (x * extent(shape.stride[0]) - extent(shape.pad_lo[0])) * channels : Expr(ci);
            value = padded(from_c, from_x, iy, iz, n);
        } else {
            define_spread();
            value = spread(lane, ci, vector, panel, from_x, iy, iz, n);
        }
        sum(lane, vector, panel, x, row, y_tile, z, n) = 0.0f;
        if (share) {
            const Expr kr = r - row * row_stride;  // folds where both are unrolled
            const Expr weight = weights(lane, vector, ci, s, clamp(kr, 0, kernel_rows - 1), t, panel);
            sum(lane, vector, panel, x, row, y_tile, z, n) +=
                select(likely(kr >= 0 && kr < kernel_rows), weight * value, 0.0f);
        } else {
            sum(lane, vector, panel, x, row, y_tile, z, n) += weights(lane, vector, ci, s, r, t, panel) * value;
        }
    }

    // The sum written out, for few taps of one channel (depthwise): no accumulator to keep, and outputs of a tile share
    // their loads.
    Expr inline_sum(const Expr &co, const Expr &of_lane, const Expr &of_vector, const Expr &of_panel) {
        Expr total = 0.0f;
        for (int t = 0; t < view.kernel[2]; t++) {
            for (int r = 0; r < view.kernel[1]; r++) {
                for (int s = 0; s < view.kernel[0]; s++) {
                    const Expr channel = min(co / extent(shape.group_outputs()), extent(shape.groups) - 1);
                    total += weights(of_lane, of_vector, 0, s, r, t, of_panel) *
                             padded(channel, tap(x, s, 0), tap(y, r, 1), tap(z, t, 2), n);
                }
            }
        }
        return total;
    }

    Var c{"c"}, b{"b"}, x{"x"}, y{"y"}, z{"z"}, n{"n"}, lane{"lane"}, vector{"vector"}, panel{"panel"};
    Var row{"row"}, y_tile{"y_tile"}, k{"k"};
    Func padded{"padded"}, dense{"dense"}, spread{"spread"}, sum{"sum"};
    ConvStages stages;
    ConvShape view;  // the loops of the sum: shape, or with the columns joined to the channels
    int lanes = 1, vectors = 1, rows = 1;
};

// Weights, HWIO or HWOI, to panels; the last panel is filled up with zeros.
class DirectConvPack : public ConvGenerator<DirectConvPack> {
public:
    Input<Buffer<float, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<float, 7>> packed{"packed"};  // lane, vector, ci, s, r, t, panel

    void configure() {
        read_parameters();
        shape = panel_shape(shape, panel_lanes());
    }

    void generate() {
        const int lanes = panel_lanes(), vectors = static_cast<int>(candidate.knob("vectors"));
        const int row = static_cast<int>(shape.group_panels ? shape.group_outputs() : shape.output_channels);
        const int row_panels = (row + lanes * vectors - 1) / (lanes * vectors);
        const Expr in_row = ((panel % row_panels) * vectors + vector) * lanes + lane;
        const Expr index = min(in_row, row - 1) + panel / row_panels * row;
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        const Expr value = hwio ? kernel(index, ci, s, r, t) : kernel(ci, index, s, r, t);
        packed(lane, vector, ci, s, r, t, panel) = select(likely(in_row < row), value, 0.0f);
    }

    void schedule() {
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        const int64_t ci_extent = shape.input_channels, co_extent = shape.output_channels;
        fix(kernel, {hwio ? co_extent : ci_extent, hwio ? ci_extent : co_extent, shape.kernel[0], shape.kernel[1],
                     shape.kernel[2]});
        fix(packed, packed_extents(shape));
        if (hwio) packed.vectorize(lane, panel_lanes());
    }

private:
    Var lane{"lane"}, vector{"vector"}, ci{"ci"}, s{"s"}, r{"r"}, t{"t"}, panel{"panel"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DirectConv, direct)
HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, direct_pack)
