// The gradient of the kernel: for every tap and pair of channels, a sum over all pixels of all images.
//
//   dk[t, r, s, ci, co] = sum over (n, o, p, q) of
//       x~[n, o * sz + t * dz - pz, p * sy + r * dy - py, q * sx + s * dx - px, first(group of co) + ci] *
//       dy[n, o, p, q, co]
//
// where x~ is the input with its holes and padding. One side's channels are the lanes of vectors and the other's are
// broadcast; which is which is the knob `across`. `space_to_depth_kernel_gradient` is the same sum for the kernel of
// the folded convolution (schedules/folded_shape.h), of which the output stores the taps that the kernel has. Sums are
// f32; operands are converted when they are copied.
#include <Halide.h>

#include "catalog/fold_algorithm.h"
#include "generators/conv_generator.h"
#include "generators/epilogue.h"
#include "generators/folded_input.h"
#include "schedules/apply/gradient_tile.h"
#include "schedules/spaces/gradient_tile_space.h"

namespace kiln {
namespace {

using namespace Halide;

int extent(int64_t e) { return static_cast<int>(e); }

class KernelGradient : public ConvGenerator<KernelGradient> {
public:
    Input<Buffer<void, 6>> x{"x"};             // c in block, x, y, z, block, n
    Input<Buffer<void, 6>> dy{"dy"};           // as the forward output
    Output<Buffer<void, 5>> output{"output"};  // as stored, innermost first: (co, ci) or (ci, co), s, r, t

    void configure() {
        read_parameters();
        whole = shape;
        if (candidate.algorithm == fold_gradient) {
            blocks = checked_knobs<FoldKnobs>(candidate.knobs).blocks();
            shape = folded_shape(whole, blocks);
        }
        x.set_type(halide_type(workload.dtype));
        dy.set_type(halide_type(workload.dtype));
        output.set_type(halide_type(workload.output_dtype));
    }

    void generate() {
        lanes = knob("lanes"), vectors = knob("vectors"), across = knob("across");
        sides = gradient_sides(shape, across);
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        const Expr co = hwio ? g.inner : g.outer, ci = hwio ? g.outer : g.inner;
        const auto [in, taps] = folded_place(ci, {g.s, g.r, g.t});
        const Expr of_lane = across ? in : co;
        Expr total = 0.0f;
        if (!is_empty()) {
            define_copies();
            define_total();
            total = g.total(of_lane % lanes, of_lane / lanes % vectors, of_lane / (lanes * vectors), across ? co : in,
                            taps[0], taps[1], taps[2]);
        }
        output(g.inner, g.outer, g.s, g.r, g.t) = convert_result(workload, output.type(), total);
    }

    void schedule() {
        fix_activation(x, whole.stored_input_channels(), whole.input_block, whole.input, whole.batch_groups);
        fix_activation(dy, shape.output_channels, shape.output_block, shape.output);
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        const int64_t ci = whole.input_channels, co = whole.output_channels;
        fix(output, {hwio ? co : ci, hwio ? ci : co, whole.kernel[0], whole.kernel[1], whole.kernel[2]});
        g.output = output;
        apply_gradient_tile(g, checked_knobs<GradientTileKnobs>(candidate.knobs), shape);
    }

private:
    int knob(const char *name) const { return extent(candidate.knob(name)); }
    bool is_empty() const { return shape.output[0] * shape.output[1] * shape.output[2] == 0; }  // sums of nothing

    // Whether register tiles reach beyond the channels or columns: what they read there must exist.
    bool ragged_lanes() const { return sides.lane_channels % (int64_t(lanes) * vectors) != 0; }
    bool ragged_channels() const { return sides.tile_channels % knob("channels") != 0; }
    bool copies_x() const {
        if (shape.folded) return true;
        const bool zeros = shape.reads_outside(0) || shape.reads_outside(1) || shape.reads_outside(2);
        const bool nhwc = shape.input_block == shape.stored_input_channels();
        return zeros || !nhwc || shape.converts || shape.batch_groups > 1 ||
               (across ? ragged_lanes() : ragged_channels()) || shape.kernel[0] % knob("columns") != 0;
    }
    bool copies_dy() const {
        const bool nhwc = shape.output_block == shape.output_channels;
        return !nhwc || shape.converts || (across ? ragged_channels() : ragged_lanes());
    }

    // Channel c of an activation in blocks.
    static Expr channel_of(const Input<Buffer<void, 6>> &from, const Expr &c, int64_t block, int64_t channels,
                           const std::array<Expr, 3> &at, const Expr &image) {
        const int b = extent(block);
        const Expr in_block = block == channels ? c : c % b, of_block = block == channels ? Expr(0) : c / b;
        return cast<float>(from(in_block, at[0], at[1], at[2], of_block, image));
    }

    // The operands in f32, channels innermost: x with its holes and padding, groups of the batch as groups of channels.
    void define_copies() {
        define_padded();
        const int outputs = extent(shape.output_channels);
        Expr co = g.c, row = g.py;
        if (copies_dy()) co = min(co, outputs - 1), row = min(row, extent(shape.output[1]) - 1);
        dense(g.c, g.px, g.py, g.pz, g.pn) = channel_of(dy, co, shape.output_block, outputs, {g.px, row, g.pz}, g.pn);
        if (copies_x()) g.x = padded;
        if (copies_dy()) g.dy = dense;
    }

    void define_padded() {
        if (shape.folded) {
            padded(g.c, g.px, g.py, g.pz, g.pn) = folded_input(whole, blocks, x, {g.c, g.px, g.py, g.pz, g.pn});
            return;
        }
        const int all = extent(shape.all_input_channels());
        Expr channel = g.c, image = g.pn;
        std::array<Expr, 3> at{g.px, g.py, g.pz};
        Expr inside = Internal::const_true();
        if (copies_x()) {
            channel = min(channel, all - 1);
            for (int d = 0; d < 3; d++) {
                if (shape.reads_outside(d)) inside = inside && at[d] >= 0 && at[d] < extent(shape.dilated(d));
                if (shape.hole[d] > 1) inside = inside && at[d] % extent(shape.hole[d]) == 0;
                at[d] = clamp(at[d], 0, extent(shape.dilated(d)) - 1) / extent(shape.hole[d]);
            }
        }
        if (shape.batch_groups > 1) {
            image = g.pn + channel / extent(shape.input_channels) * extent(shape.batch);
            channel = channel % extent(shape.input_channels);
        }
        const Expr value = channel_of(x, channel, shape.input_block, shape.stored_input_channels(), at, image);
        padded(g.c, g.px, g.py, g.pz, g.pn) = copies_x() ? select(likely(inside), value, 0.0f) : value;
    }

    // Where input channel ci of a tap is among the folded channels and taps.
    std::pair<Expr, std::array<Expr, 3>> folded_place(const Expr &ci, std::array<Expr, 3> tap) const {
        if (!shape.folded) return {ci, tap};
        Expr pixel = 0;
        for (int d = 2; d >= 0; d--) {
            const int b = extent(blocks[d]);
            const Expr place = tap[d] + extent(folded_front(whole, blocks, d));
            pixel = pixel * b + place % b, tap[d] = place / b;
        }
        return {pixel * extent(whole.input_channels) + ci, tap};
    }

    // The group that output channel `co` belongs to; known for a whole vector where lanes do not mix groups.
    Expr group_of(const Expr &co, const Expr &vector_index) const {
        const int outputs = extent(shape.group_outputs());
        if (shape.groups == 1) return 0;
        const Expr group = !across && outputs % lanes == 0 ? vector_index / (outputs / lanes) : co / outputs;
        return (across ? ragged_channels() : ragged_lanes()) ? min(group, extent(shape.groups) - 1) : group;
    }

    Expr tap(const Expr &out, const Expr &of_kernel, int d) const {
        return out * extent(shape.stride[d]) + of_kernel * extent(shape.dilation[d]) - extent(shape.pad_lo[d]);
    }

    void define_total() {
        const int row_block = knob("row_block"), rows = extent(shape.output[1]);
        g.blocks =
            RDom(0, (rows + row_block - 1) / row_block, 0, extent(shape.output[2]), 0, extent(shape.batch), "blocks");
        g.pixels = RDom(0, extent(shape.output[0]), 0, row_block, "pixels");
        const Expr vector_index = g.panel * vectors + g.vector, of_lane = vector_index * lanes + g.lane;
        const Expr ci = across ? of_lane : g.channel, co = across ? g.channel : of_lane;
        const Expr q = g.pixels[0], p = block * row_block + g.pixels[1];
        if (rows % row_block != 0) g.pixels.where(p < rows);
        const Expr value = padded(group_of(co, vector_index) * extent(shape.input_channels) + ci, tap(q, g.s, 0),
                                  tap(p, g.r, 1), tap(o, g.t, 2), n);
        g.part(g.lane, g.vector, g.panel, g.channel, g.s, g.r, g.t, block, o, n) = 0.0f;
        g.part(g.lane, g.vector, g.panel, g.channel, g.s, g.r, g.t, block, o, n) += value * dense(co, q, p, o, n);
        g.total(g.lane, g.vector, g.panel, g.channel, g.s, g.r, g.t) = 0.0f;
        g.total(g.lane, g.vector, g.panel, g.channel, g.s, g.r, g.t) +=
            g.part(g.lane, g.vector, g.panel, g.channel, g.s, g.r, g.t, g.blocks[0], g.blocks[1], g.blocks[2]);
    }

    ConvShape whole;         // before it is folded
    Blocks blocks{1, 1, 1};  // of pixels, where it is
    GradientStages g;
    GradientSides sides;
    Func padded{"padded"}, dense{"dense"};
    Var block{"block"}, o{"o"}, n{"n"};
    int lanes = 1, vectors = 1;
    bool across = false;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::KernelGradient, kernel_gradient)
HALIDE_REGISTER_GENERATOR(kiln::KernelGradient, space_to_depth_kernel_gradient)
