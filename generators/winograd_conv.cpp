// Winograd convolution F(m x m, r x r), fused: input transform, batched product, output transform with the epilogue.
//
//   transformed(ci; tile; fy, fx) = bt_y D bt_x^T, D the tile's inputs, padding included
//   sum(co; tile; fy, fx)         = sum over ci of weights(co; ci; fy, fx) * transformed(ci; tile; fy, fx)
//   output(co; tile)              = epilogue(at_y sum at_x^T)
//   weights(co; ci; fy, fx)       = g_y K g_x^T, by the pack generator
//
// The gradient of the input is the same with the kernel turned around, and a dilated convolution the same on the phases
// of its input (rewrites/conv_shape.h); then `gathered` holds the outputs of all phases and the output picks them up.
//
// The matrices are those of catalog/winograd_matrices.h. Weights are packed in exactly the order in which the sum
// reads them. Operands are converted to f32 when loaded, the result to output_dtype when stored.
#include <Halide.h>

#include <utility>

#include "catalog/winograd_algorithm.h"
#include "catalog/winograd_matrices.h"
#include "generators/conv_generator.h"
#include "generators/epilogue.h"
#include "generators/winograd_transform.h"
#include "schedules/apply/winograd.h"

namespace kiln {
namespace {

using namespace Halide;

int extent(int64_t e) { return static_cast<int>(e); }

// What compute and pack share.
template<typename Derived>
class WinogradGenerator : public ConvGenerator<Derived> {
protected:
    void read_winograd() {
        this->read_parameters();
        const ConvShape phased = gathered_shape(input_phase_shape(this->shape));
        facts = winograd_facts(phased, winograd_m(this->candidate.algorithm), this->target_of_kiln, Machine{});
        // Without phases, rows may have been merged; with them, also with one alone, memory is as the workload says.
        stored = phased.input_phases == ConvShape{}.input_phases ? facts.shape : this->shape;
        this->shape = facts.shape;
        along_x = matrices(0), along_y = matrices(1);
        vectors = knob("vectors"), panels = knob("panel_block");
        ax = along_x.a(), ay = along_y.a();
    }

    int knob(const char *name) const { return extent(this->candidate.knob(name)); }

    // Extents of the packed weights, innermost first: lane, vector, ci, panel of a block, frequency, block.
    std::vector<int64_t> weight_extents() const {
        const int64_t blocks = (facts.output_vectors() + vectors * panels - 1) / (vectors * panels);
        return {facts.lanes, vectors, facts.summed_channels(), panels, facts.frequencies(), blocks};
    }

    Type weight_type() const { return knob("demote") >= 1 ? BFloat(16) : Float(32); }

    WinogradFacts facts;
    ConvShape stored;  // as in memory, before it is taken apart into phases
    WinogradMatrices along_x, along_y;
    int vectors = 1, panels = 1, ax = 1, ay = 1;

private:
    WinogradMatrices matrices(int d) const {
        const int m = extent(facts.m[d]), r = extent(this->shape.kernel[d]), count = m + r - 2;
        const int choice = std::min(knob("points"), winograd_point_choices(count) - 1);
        return winograd_matrices(m, r, winograd_points(count, choice));
    }
};

class WinogradConv : public WinogradGenerator<WinogradConv> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 6>> weights{"weights"};  // lane, vector, ci, panel of a block, frequency, block
    Input<Buffer<float, 1>> *bias = nullptr;
    Input<Buffer<>> *addend = nullptr;         // as output
    Output<Buffer<void, 6>> output{"output"};  // c in block, x, y, z, block, n

    void configure() {
        read_winograd();
        input.set_type(halide_type(workload.dtype));
        weights.set_type(weight_type());
        output.set_type(halide_type(workload.output_dtype));
        if (has_epilogue(workload, EpilogueStep::Kind::bias)) bias = add_input<Buffer<float, 1>>("bias");
        if (has_epilogue(workload, EpilogueStep::Kind::add)) {
            addend = add_input<Buffer<>>("addend", halide_type(workload.output_dtype), 6);
        }
    }

    void generate() {
        define_transformed();
        define_sum();
        define_output();
    }

    void schedule() {
        fix_activation(input, stored.input_channels, stored.input_block, stored.input);
        fix_activation(output, stored.output_channels, stored.output_block, stored.output);
        if (addend) fix_activation(*addend, stored.output_channels, stored.output_block, stored.output);
        if (bias) fix(*bias, {shape.output_channels});
        fix(weights, weight_extents());
        s.output = output;
        if (shape.scatters()) {
            gathered.bound(s.c, 0, extent(shape.output_channels))
                .bound(s.b, 0, 1)
                .bound(s.z, 0, extent(shape.output[2]));
            gathered.bound(s.x, 0, extent(shape.output[0])).bound(s.y, 0, extent(shape.output[1]));
            gathered.bound(s.n, 0, extent(shape.batch));
            s.output = gathered, s.scattered = output, s.scattered_block = stored.output_block;
        }
        apply_winograd(s, *decode_knobs<WinogradKnobs>(candidate.knobs), facts);
    }

private:
    // The input with zeros around it, in f32. The tests are gone inside: loop partitioning drops what is likely.
    Expr padded(const Expr &ci, const Expr &ix, const Expr &iy) const {
        const int channels = extent(shape.input_channels), block = extent(shape.input_block);
        const bool filled = facts.summed_channels() != shape.input_channels;
        const Expr in = filled ? min(ci, channels - 1) : ci;
        Expr c = in % block, b = in / block;
        if (block == channels) c = in, b = 0;
        if (block == 1) c = 0, b = in;
        const int columns = extent(stored.input[0]), rows = extent(stored.input[1]);
        Expr value = cast<float>(input(c, clamp(ix, 0, columns - 1), clamp(iy, 0, rows - 1), s.z, b, image_of(s.n)));
        value = select(likely(ix >= 0 && ix < columns), value, 0.0f);
        value = select(likely(iy >= 0 && iy < rows), value, 0.0f);
        return filled ? select(likely(ci < channels), value, 0.0f) : value;
    }

    void define_transformed() {
        std::vector<Expr> column, row;
        const Expr ci = s.channels * extent(facts.channel_step()) + s.lane;
        const Expr ix = place_of(s.tile_x * along_x.m + s.in_tile - extent(shape.pad_lo[0]), s.n, 0);
        const Expr iy = place_of(s.tile_y * along_y.m + s.in_tile_y - extent(shape.pad_lo[1]), s.n, 1);
        s.input_tile(s.lane, s.in_tile, s.in_tile_y, s.tile_x, s.tile_y, s.channels, s.z, s.n) = padded(ci, ix, iy);
        for (int j = 0; j < ay; j++) {
            column.push_back(s.input_tile(s.lane, s.in_tile, j, s.tile_x, s.tile_y, s.channels, s.z, s.n));
        }
        s.input_columns(s.lane, s.in_tile, s.row_frequency, s.tile_x, s.tile_y, s.channels, s.z, s.n) =
            entry_at(s.row_frequency, winograd_transform(along_y.bt, column));
        for (int i = 0; i < ax; i++) {
            row.push_back(s.input_columns(s.lane, i, s.frequency / ax, s.tile_x, s.tile_y, s.channels, s.z, s.n));
        }
        const Expr value = entry_at(s.frequency % ax, winograd_transform(along_x.bt, row));
        s.transformed(s.lane, s.tile_x, s.tile_y, s.channels, s.frequency, s.z, s.n) =
            knob("demote") == 2 ? cast<bfloat16_t>(value) : value;
    }

    void define_sum() {
        const int step = extent(facts.channel_step());
        s.taps = RDom(0, step, 0, extent(facts.summed_channels()) / step, "taps");
        const RVar lane(s.taps[0]), channels(s.taps[1]);
        const Expr weight =
            weights(s.lane, s.vector, channels * step + lane, s.panel % panels, s.frequency, s.panel / panels);
        const Expr value = s.transformed(lane, s.tile_x, s.tile_y, channels, s.frequency, s.z, s.n);
        s.sum(s.lane, s.vector, s.panel, s.tile_x, s.tile_y, s.frequency, s.z, s.n) +=
            cast<float>(weight) * cast<float>(value);
        s.products(s.lane, s.vector, s.panel, s.tile_x, s.tile_y, s.frequency, s.z, s.n) =
            s.sum(s.lane, s.vector, s.panel, s.tile_x, s.tile_y, s.frequency, s.z, s.n);
    }

    void define_output() {
        const int lanes = facts.lanes;
        std::vector<Expr> column, row;
        for (int j = 0; j < ay; j++) {
            column.push_back(s.products(s.c % lanes, (s.c / lanes) % vectors, s.c / (lanes * vectors), s.tile_x,
                                        s.tile_y, j * ax + s.in_tile, s.z, s.n));
        }
        s.output_columns(s.c, s.in_tile, s.out_row, s.tile_x, s.tile_y, s.z, s.n) =
            entry_at(s.out_row, winograd_transform(along_y.at, column));
        Expr co = channel_in(shape);
        for (int i = 0; i < ax; i++) {
            row.push_back(s.output_columns(co, i, s.y % along_y.m, s.x / along_x.m, s.y / along_y.m, s.z, s.n));
        }
        Expr total = entry_at(s.x % along_x.m, winograd_transform(along_x.at, row));
        const int outputs = extent(shape.output_channels);
        const bool filled = stored.stored_channels() != outputs;
        if (shape.scatters()) {
            gathered(s.c, s.x, s.y, s.z, s.b, s.n) = total;
            co = channel_in(stored);
            std::array<Expr, 3> at{s.x, s.y, s.z};
            const Expr image = to_phases(&at, s.n);
            total = gathered(filled ? min(co, outputs - 1) : co, at[0], at[1], at[2], 0, image);
        }
        Expr value = apply_epilogue(workload, total, bias ? (*bias)(filled ? min(co, outputs - 1) : co) : Expr(),
                                    addend ? cast<float>((*addend)(s.c, s.x, s.y, s.z, s.b, s.n)) : Expr());
        if (filled) value = select(co < outputs, value, 0.0f);
        output(s.c, s.x, s.y, s.z, s.b, s.n) = cast(output.type(), value);
    }

    Expr channel_in(const ConvShape &layout) const {
        if (layout.output_block == layout.output_channels) return s.c;
        return layout.output_block == 1 ? Expr(s.b) : s.b * extent(layout.output_block) + s.c;
    }

    WinogradStages s;
    Func gathered{"gathered"};
};

// Weights, HWIO or HWOI, transformed and in the order of the sum; channels that fill up are zeros. Packing happens
// once, so it can afford double, rounded once at the end.
class WinogradConvPack : public WinogradGenerator<WinogradConvPack> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<void, 6>> packed{"packed"};  // lane, vector, ci, panel of a block, frequency, block

    void configure() {
        read_winograd();
        kernel.set_type(halide_type(workload.dtype));
        packed.set_type(weight_type());
    }

    void generate() {
        std::vector<Expr> column, row;
        for (int r = 0; r < along_y.r; r++) column.push_back(weight(r));
        columns(lane, vector, ci, panel, tap, row_frequency, block) =
            entry_at(row_frequency, winograd_transform(along_y.g, column));
        for (int i = 0; i < along_x.r; i++) row.push_back(columns(lane, vector, ci, panel, i, frequency / ax, block));
        packed(lane, vector, ci, panel, frequency, block) =
            cast(packed.type(), cast<float>(entry_at(frequency % ax, winograd_transform(along_x.g, row))));
    }

    void schedule() {
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        const int64_t ci_extent = workload.kernel[workload.spatial_rank], co_extent = workload.kernel.back();
        fix(kernel, {hwio ? co_extent : ci_extent, hwio ? ci_extent : co_extent, shape.kernel[0], shape.kernel[1], 1});
        fix(packed, weight_extents());
        packed.reorder(lane, frequency, ci, vector, panel, block).vectorize(lane, facts.lanes).unroll(frequency);
        columns.compute_at(packed, ci).vectorize(lane, facts.lanes).unroll(tap).unroll(row_frequency);
    }

private:
    // The kernel of the forward convolution, turned for the gradient of the input: back to front, channels exchanged.
    Expr weight(int r) const {
        const int inputs = extent(shape.input_channels), outputs = extent(shape.output_channels);
        const Expr channel = ((block * panels + panel) * vectors + vector) * facts.lanes + lane;
        Expr out = clamp(channel, 0, outputs - 1), in = min(ci, inputs - 1), column = tap, row = r;
        if (shape.turned) {
            std::swap(in, out);
            column = along_x.r - 1 - tap, row = along_y.r - 1 - r;
        }
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        const Expr value = hwio ? kernel(out, in, column, row, 0) : kernel(in, out, column, row, 0);
        return select(likely(channel < outputs && ci < inputs), cast<double>(cast<float>(value)), Expr(0.0));
    }

    Var lane{"lane"}, vector{"vector"}, ci{"ci"}, panel{"panel"}, frequency{"frequency"}, block{"block"};
    Var tap{"tap"}, row_frequency{"row_frequency"};
    Func columns{"columns"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::WinogradConv, winograd_2)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConv, winograd_3)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConv, winograd_4)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConv, winograd_5)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConv, winograd_6)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConvPack, winograd_2_pack)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConvPack, winograd_3_pack)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConvPack, winograd_4_pack)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConvPack, winograd_5_pack)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConvPack, winograd_6_pack)
