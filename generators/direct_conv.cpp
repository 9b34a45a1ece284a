// Direct convolution, with groups: the definition, with the output channels in panels of a register tile's width.
//
//   sum(lane, vector, panel, x, row, y_tile, z, n) = sum over (ci, s, r, t) of
//       weights(lane, vector, ci, s, r, t, panel) * padded(first(group) + ci, x * sx + s * dx - px, ...)
//   output(c, x, y, z, n) = epilogue(sum(c as lane, vector, panel; y as row, y_tile))
//
// The weights are packed in exactly the order in which the sum reads them, so that a panel streams through the caches.
// They are f32 and so are sums and epilogue: operands are converted when they are loaded, the result when it is stored.
//
// The gradient of the input is the same with the kernel turned around; `phases` is the same on the shape of the
// output's phases, `input_phases` on that of the input's (rewrites/conv_shape.h). Where sums then are not in the order
// of the result, `gathered` holds them and the output picks them up: phases become pixels, groups of the batch become
// images.
//
// `space_to_depth_fused` and `space_to_depth_prepared` are the same on the folded shape (schedules/folded_shape.h).
#include <Halide.h>

#include "generators/epilogue.h"
#include "generators/folded_input.h"
#include "generators/panel_generator.h"
#include "schedules/apply/cpu_tile.h"
#include "schedules/spaces/cpu_tile_space.h"

namespace kiln {
namespace {

using namespace Halide;

class DirectConv : public PanelGenerator<DirectConv> {
public:
    Input<Buffer<void, 6>> input{"input"};       // c in block, x, y, z, block, n
    Input<Buffer<float, 7>> weights{"weights"};  // lane, vector, ci, s, r, t, panel
    Input<Buffer<float, 1>> *bias = nullptr;
    Input<Buffer<>> *addend = nullptr;         // as output
    Output<Buffer<void, 6>> output{"output"};  // c in block, x, y, z, block, n

    void configure() {
        read_panels();
        view = candidate.knob("join_columns") ? joined_columns(shape) : shape;
        input.set_type(halide_type(workload.dtype));
        output.set_type(halide_type(workload.output_dtype));
        if (has_epilogue(workload, EpilogueStep::Kind::bias)) bias = add_input<Buffer<float, 1>>("bias");
        if (has_epilogue(workload, EpilogueStep::Kind::add)) {
            addend = add_input<Buffer<>>("addend", halide_type(workload.output_dtype), 6);
        }
    }

    void generate() {
        lanes = panel_lanes(), vectors = knob("vectors"), rows = knob("rows");
        define_padded();
        const Expr co = channel_of(shape.output_block, shape.output_channels);
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
        if (!shape.scatters()) return define_output(co, total);
        gathered(c, x, y, z, b, n) = total;
        const Expr to = channel_of(stored.output_block, stored_channels());
        define_output(to, scattered(to));
    }

    void schedule() {
        if (shape.folded) {
            fix_activation(input, whole.stored_input_channels(), whole.input_block, whole.input);
        } else if (knob("join_columns")) {
            fix(input, {shape.input_channels * shape.input[0], 1, shape.input[1], shape.input[2], 1, shape.batch});
        } else {
            fix_activation(input, shape.stored_input_channels(), shape.input_block, shape.stored_input,
                           shape.batch_groups);
        }
        fix_result(output);
        if (addend) fix_result(*addend);
        if (bias) fix(*bias, {whole.output_channels});
        fix(weights, packed_extents(view));
        if (shape.reads_outside(0) || shape.reads_outside(1) || knob("stage_input")) stages.padded = padded;
        if (sum.defined()) stages.sum = sum;
        if (spread.defined()) stages.spread = spread;
        if (dense.defined()) stages.dense = dense;
        stages.output = output;
        if (shape.scatters()) {
            bound_gathered();
            stages.output = gathered, stages.scattered = output;
            stages.scattered_block = stored.output_block;
        }
        stages.c = c, stages.b = b, stages.x = x, stages.y = y, stages.z = z, stages.n = n;
        stages.lane = lane, stages.vector = vector, stages.panel = panel;
        stages.row = row, stages.y_tile = y_tile, stages.ci = k;
        apply_cpu_tile(stages, knobs, view, target_of_kiln);
    }

private:
    template<typename BufferParameter>
    void fix_result(BufferParameter &buffer) {
        if (shape.scatters()) {
            fix_activation(buffer, stored_channels(), stored.output_block, whole.output, stored.result_batch_groups);
        } else if (shape.group_panels) {
            fix_grouped_activation(buffer, shape.group_outputs(), shape.output);
        } else {
            fix_activation(buffer, shape.output_channels, shape.output_block, shape.output);
        }
    }

    void bound_gathered() {
        gathered.bound(c, 0, extent(shape.group_panels ? shape.group_outputs() : shape.output_channels))
            .bound(b, 0, extent(shape.group_panels ? shape.groups : 1))
            .bound(x, 0, extent(shape.output[0]))
            .bound(y, 0, extent(shape.output[1]))
            .bound(z, 0, extent(shape.output[2]))
            .bound(n, 0, extent(shape.batch));
    }

    // Channels of the result, those that fill up its last block left out.
    int stored_channels() const { return extent(whole.output_channels / whole.result_batch_groups); }

    Expr channel_of(int64_t block, int64_t channels) const {
        return block == channels ? Expr(c) : block == 1 ? Expr(b) : b * extent(block) + c;
    }

    // The sum that belongs to channel `co` of the result at x, y, z, n: its group may be that of the image, its phase
    // is that of its place.
    Expr scattered(const Expr &co) const {
        const int of_phase = extent(whole.group_outputs()), of_group = extent(shape.group_outputs());
        const int images = extent(this->images()), phases = extent(shape.all_phases());
        const Expr channel = stored_channels() % stored.output_block ? min(co, stored_channels() - 1) : co;
        const bool batch_groups = stored.result_batch_groups > 1;
        const Expr group = batch_groups ? n / images : channel / of_phase;
        const Expr in_group = batch_groups ? channel : channel % of_phase;
        std::array<Expr, 3> at{x, y, z}, of{0, 0, 0};  // of which phase, and which of its outputs
        for (int d = 0; d < 3; d++) {
            if (shape.phases[d] == 1) continue;
            const Expr from_origin = at[d] + extent(shape.phase_origin[d]);
            of[d] = from_origin % extent(shape.phases[d]), at[d] = from_origin / extent(shape.phases[d]);
        }
        const Expr which = (of[2] * extent(shape.phases[1]) + of[1]) * extent(shape.phases[0]) + of[0];
        const Expr in_panels = phases > 1 ? which * of_phase + in_group : in_group;
        const Expr image = to_phases(&at, batch_groups ? n % images : Expr(n));
        return gathered(shape.group_panels ? in_panels : group * of_group + in_panels, at[0], at[1], at[2],
                        shape.group_panels ? group : Expr(0), image);
    }

    void define_output(const Expr &co, const Expr &total) {
        const int channels = stored_channels();
        const bool filled = !stored.group_panels && channels % stored.output_block != 0;
        Expr value = apply_epilogue(workload, total, bias ? (*bias)(filled ? min(co, channels - 1) : co) : Expr(),
                                    addend ? cast<float>((*addend)(c, x, y, z, b, n)) : Expr());
        if (filled) value = select(co < channels, value, 0.0f);
        output(c, x, y, z, b, n) = convert_result(workload, output.type(), value);
    }

    static int extent(int64_t e) { return static_cast<int>(e); }
    int group_panels() const { return extent(shape.panels(int64_t(lanes) * vectors) / shape.groups); }
    int knob(const char *name) const { return extent(candidate.knob(name)); }
    Expr tap(const Expr &out, const Expr &of_kernel, int d) const {
        return out * extent(view.stride[d]) + of_kernel * extent(view.dilation[d]) - extent(view.pad_lo[d]);
    }
    // Extent of the input with the holes that are left in it.
    int dilated_input(int d) const { return extent((shape.stored_input[d] - 1) * view.hole[d] + 1); }
    Expr inside(const Expr &u, int d) const {
        const Expr i = place_of(u, n, d), in_image = i >= 0 && i < dilated_input(d);
        return view.hole[d] == 1 ? in_image : in_image && i % extent(view.hole[d]) == 0;
    }
    // The input at position u of the dilated input, or any where that is none.
    Expr clamped(const Expr &u, int d) const { return view.reads_outside(d) ? nearest(u, d) : u; }
    Expr nearest(const Expr &u, int d) const {
        const Expr in_image = clamp(place_of(u, n, d), 0, dilated_input(d) - 1);
        return view.hole[d] == 1 ? in_image : in_image / extent(view.hole[d]);
    }

    // The input with zeros around it. Joined, it is one long row of floats, c, without x: a kernel row's columns and
    // channels are contiguous in memory and one dimension of the sum.
    void define_padded() {
        if (shape.folded) {
            const int channels = extent(shape.input_channels);
            const bool join = knob("join_columns");
            padded(c, x, y, z, n) = folded_input(
                whole, blocks, input, {join ? c % channels : Expr(c), join ? c / channels : Expr(x), y, z, n});
            return;
        }
        const bool join = knob("join_columns");
        const int row_floats = extent(shape.input[0] * shape.input_channels);
        const bool outside_x = shape.reads_outside(0);
        const Expr ic = join && outside_x ? clamp(c, 0, row_floats - 1) : Expr(c), ix = join ? Expr(x) : clamped(x, 0);
        // Groups of the batch are read as if they were groups of channels.
        const bool batch_groups = shape.batch_groups > 1;
        const int inputs = extent(shape.input_channels), block = extent(shape.input_block);
        const Expr channel = batch_groups ? ic % inputs : ic;
        const Expr image = batch_groups ? image_of(n) + ic / inputs * extent(images()) : image_of(n);
        const bool nhwc = shape.input_block == shape.stored_input_channels();
        Expr in_block = channel % block, block_index = channel / block;
        if (nhwc) in_block = channel, block_index = 0;
        if (!nhwc && block == 1) in_block = 0, block_index = channel;
        // Tiles that do not divide the rows compute some below the last, which are not stored; their input may not
        // exist.
        const bool beyond = shape.output[1] % rows != 0;
        const Expr iy = beyond ? nearest(y, 1) : clamped(y, 1);
        const bool empty = shape.input[0] * shape.input[1] * shape.input[2] == 0;  // the gradient of nothing
        Expr value = empty ? Expr(0.0f) : cast<float>(input(in_block, ix, iy, clamped(z, 2), block_index, image));
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

    // Taps that the panel's phase does not have are left out where a panel is of one phase, as bounds of the loops.
    void skip_missing_taps(const std::array<Expr, 3> &window) {
        const int64_t panel_width = int64_t(lanes) * vectors;
        if (!shape.skips_missing_taps(panel_width)) return;
        Expr of_phase = panel / extent(whole.group_outputs() / panel_width) % extent(shape.all_phases());
        for (int d = 0; d < 3; d++) {
            const int phases = extent(shape.phases[d]);
            const PhaseTaps taps = phase_taps(whole, shape, d);
            const Expr reach =
                window[d] * extent(taps.scale) + extent(taps.shift) - of_phase % phases * extent(taps.step);
            of_phase = of_phase / phases;
            const bool unrolled =
                d == 0 ? knob("unroll_columns") || knob("join_columns") : d == 1 && knob("unroll_rows");
            if (phases == 1 || unrolled) continue;
            stages.taps.where(reach >= 0 && reach <= extent((taps.kernel - 1) * taps.dilation));
        }
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

        skip_missing_taps({s, r, t});
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
    Func padded{"padded"}, dense{"dense"}, spread{"spread"}, sum{"sum"}, gathered{"gathered"};
    ConvStages stages;
    ConvShape view;  // the loops of the sum: shape, or with the columns joined to the channels
    int lanes = 1, vectors = 1, rows = 1;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DirectConv, direct)
HALIDE_REGISTER_GENERATOR(kiln::DirectConv, phases)
HALIDE_REGISTER_GENERATOR(kiln::DirectConv, input_phases)
HALIDE_REGISTER_GENERATOR(kiln::DirectConv, space_to_depth_fused)
HALIDE_REGISTER_GENERATOR(kiln::DirectConv, space_to_depth_prepared)
