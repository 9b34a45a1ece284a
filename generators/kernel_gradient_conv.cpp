// The gradient of the kernel: for every tap and pair of channels, a sum over all pixels of all images.
//
//   dk[t, r, s, ci, co] = sum over (n, o, p, q) of
//       x~[n, o * sz + t * dz - pz, p * sy + r * dy - py, q * sx + s * dx - px, first(group of co) + ci] *
//       dy[n, o, p, q, co]
//
// where x~ is the input with its holes and padding. One side's channels are the lanes of vectors and the other's are
// broadcast; which is which is the knob `across`. `space_to_depth_kernel_gradient` is the same sum for the kernel of
// the folded convolution (rewrites/fold.h), of which the output stores the taps that the kernel has. Sums are
// f32; operands are converted when they are copied.
#include <Halide.h>

#include "generators/activation.h"
#include "generators/conv_generator.h"
#include "generators/epilogue.h"
#include "schedules/apply/gradient_tile.h"
#include "schedules/spaces/gradient_tile_knobs.h"
#include "schedules/spaces/gradient_tile_space.h"

namespace kiln {
namespace {

using namespace Halide;

class KernelGradient : public ConvGenerator<KernelGradient, GradientTileKnobs> {
public:
    Input<Buffer<void, 6>> x{"x"};             // c in block, x, y, z, block, n
    Input<Buffer<void, 6>> dy{"dy"};           // as the forward output
    Output<Buffer<void, 5>> output{"output"};  // as stored, innermost first: (co, ci) or (ci, co), s, r, t

    void configure() {
        read_convolution();
        x.set_type(ConvTypes(workload).operand);
        dy.set_type(ConvTypes(workload).operand);
        output.set_type(ConvTypes(workload).result);
    }

    void generate() {
        lanes = extent(knobs.lanes), vectors = extent(knobs.vectors);
        sides = gradient_sides(loops, knobs.across);
        const Expr co = hwio() ? g.inner : g.outer, ci = hwio() ? g.outer : g.inner;
        const Exprs of = values_of(loops.gradient, {co, ci, g.s, g.r, g.t});  // channel and taps of the sum
        const Expr of_lane = knobs.across ? of[0] : co;
        Expr total = 0.0f;
        if (!is_empty()) {
            define_copies();
            define_total();
            total = g.total(of_lane % lanes, of_lane / lanes % vectors, of_lane / (lanes * vectors),
                            knobs.across ? co : of[0], of[1], of[2], of[3]);
        }
        output(g.inner, g.outer, g.s, g.r, g.t) = convert_result(workload, output.type(), total);
    }

    void schedule() {
        const ElementMap &map = loops.kernel_map;
        fix_activation(x, loops.stored_input);
        fix_activation(dy, loops.stored_result);
        fix(output,
            {map[hwio() ? 0 : 1].extent, map[hwio() ? 1 : 0].extent, map[2].extent, map[3].extent, map[4].extent});
        g.output = output;
        apply_gradient_tile(g, knobs, loops);
    }

private:
    bool hwio() const { return workload.kernel_layout == KernelLayout::hwio; }
    bool is_empty() const { return loops.output[0] * loops.output[1] * loops.output[2] == 0; }  // sums of nothing

    // Whether register tiles reach beyond the channels or columns: what they read there must exist.
    bool ragged_lanes() const { return sides.lane_channels % (int64_t(lanes) * vectors) != 0; }
    bool ragged_channels() const { return sides.tile_channels % knobs.channels != 0; }
    bool copies_x() const {
        const bool zeros = loops.reads_outside(0) || loops.reads_outside(1) || loops.reads_outside(2);
        return zeros || loops.folds() || !loops.is_nhwc() || loops.converts || loops.has_groups_in_batch() ||
               (knobs.across ? ragged_lanes() : ragged_channels()) || loops.kernel[0] % knobs.columns != 0;
    }
    bool copies_dy() const {
        const bool nhwc = loops.output_block == loops.output_channels;
        return !nhwc || loops.converts || (knobs.across ? ragged_channels() : ragged_lanes());
    }

    // The operands in f32, channels innermost: x with its holes and padding, groups of the batch as groups of channels.
    // Copies have whole tiles; what is read for their rest is any element that exists.
    void define_copies() {
        ElementMap map = loops.input_map;
        Expr ci = g.c, co = g.c, row = g.py;
        if (copies_x() && !loops.folds()) {
            ci = min(ci, extent(loops.all_input_channels()) - 1);
            for (int d : {input_index::x, input_index::y, input_index::z}) {
                if (map[d].outside == Outside::never) map[d].outside = Outside::any;
            }
        }
        padded(g.c, g.px, g.py, g.pz, g.pn) =
            element(x, loops.stored_input, map, {ci, g.px, g.py, g.pz, g.pn}, Tests::together);
        if (copies_dy()) co = min(co, extent(loops.output_channels) - 1), row = min(row, extent(loops.output[1]) - 1);
        const ChannelPlace channel = place_of_channel(loops.stored_result, co);
        dense(g.c, g.px, g.py, g.pz, g.pn) = cast<float>(dy(channel.in_block, g.px, row, g.pz, channel.block, g.pn));
        if (copies_x()) g.x = padded;
        if (copies_dy()) g.dy = dense;
    }

    // The group that output channel `co` belongs to; known for a whole vector where lanes do not mix groups.
    Expr group_of(const Expr &co, const Expr &vector_index) const {
        const int outputs = extent(loops.group_outputs());
        if (loops.groups == 1) return 0;
        const Expr group = !knobs.across && outputs % lanes == 0 ? vector_index / (outputs / lanes) : co / outputs;
        return (knobs.across ? ragged_channels() : ragged_lanes()) ? min(group, extent(loops.groups) - 1) : group;
    }

    Expr tap(const Expr &out, const Expr &of_kernel, int d) const {
        return out * extent(loops.stride[d]) + of_kernel * extent(loops.dilation[d]) - extent(loops.pad_lo[d]);
    }

    void define_total() {
        const int row_block = extent(knobs.row_block), rows = extent(loops.output[1]);
        g.blocks =
            RDom(0, (rows + row_block - 1) / row_block, 0, extent(loops.output[2]), 0, extent(loops.batch), "blocks");
        g.pixels = RDom(0, extent(loops.output[0]), 0, row_block, "pixels");
        const Expr vector_index = g.panel * vectors + g.vector, of_lane = vector_index * lanes + g.lane;
        const Expr ci = knobs.across ? of_lane : g.channel, co = knobs.across ? g.channel : of_lane;
        const Expr q = g.pixels[0], p = block * row_block + g.pixels[1];
        if (rows % row_block != 0) g.pixels.where(p < rows);
        const Expr value = padded(group_of(co, vector_index) * extent(loops.input_channels) + ci, tap(q, g.s, 0),
                                  tap(p, g.r, 1), tap(o, g.t, 2), n);
        g.part(g.lane, g.vector, g.panel, g.channel, g.s, g.r, g.t, block, o, n) = 0.0f;
        g.part(g.lane, g.vector, g.panel, g.channel, g.s, g.r, g.t, block, o, n) += value * dense(co, q, p, o, n);
        g.total(g.lane, g.vector, g.panel, g.channel, g.s, g.r, g.t) = 0.0f;
        g.total(g.lane, g.vector, g.panel, g.channel, g.s, g.r, g.t) +=
            g.part(g.lane, g.vector, g.panel, g.channel, g.s, g.r, g.t, g.blocks[0], g.blocks[1], g.blocks[2]);
    }

    GradientStages g;
    GradientSides sides;
    Func padded{"padded"}, dense{"dense"};
    Var block{"block"}, o{"o"}, n{"n"};
    int lanes = 1, vectors = 1;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::KernelGradient, kernel_gradient)
HALIDE_REGISTER_GENERATOR(kiln::KernelGradient, space_to_depth_kernel_gradient)
