// Winograd convolution F(m x m, r x r), fused: input transform, batched product, output transform with the epilogue.
//
//   transformed(ci; tile; fy, fx) = bt_y D bt_x^T, D the tile's inputs, padding included
//   sum(co; tile; fy, fx)         = sum over ci of weights(co; ci; fy, fx) * transformed(ci; tile; fy, fx)
//   output(co; tile)              = epilogue(at_y sum at_x^T)
//   weights(co; ci; fy, fx)       = g_y K g_x^T, by the pack generator
//
// The gradient of the input is the same with the kernel turned around, and a dilated convolution the same on the phases
// of its input (rewrites/input_phases.h); then `gathered` holds the outputs of all phases and the output picks them up.
//
// The matrices are those of catalog/winograd_matrices.h. Weights are packed in exactly the order in which the sum
// reads them. Operands are converted to f32 when loaded, the result to output_dtype when stored.
#include <Halide.h>

#include "catalog/winograd_algorithm.h"
#include "catalog/winograd_matrices.h"
#include "generators/conv_generator.h"
#include "generators/conv_result.h"
#include "generators/winograd_transform.h"
#include "rewrites/panels.h"
#include "schedules/apply/winograd.h"
#include "schedules/spaces/winograd_knobs.h"

namespace kiln {
namespace {

using namespace Halide;

// What compute and pack share.
template<typename Derived>
class WinogradGenerator : public ConvGenerator<Derived, WinogradKnobs> {
protected:
    void read_winograd() {
        this->read_convolution();
        facts =
            winograd_facts(gathered(this->loops), winograd_m(this->candidate.algorithm), this->target_of_kiln, Core{});
        this->loops = facts.shape;  // rows may have been merged
        along_x = matrices(0), along_y = matrices(1);
        vectors = extent(this->knobs.vectors), panels = extent(this->knobs.panel_block);
        ax = along_x.a(), ay = along_y.a();
    }

    // Extents of the packed weights, innermost first: lane, vector, ci, panel of a block, frequency, block.
    std::vector<int64_t> weight_extents() const {
        const int64_t blocks = (facts.output_vectors() + vectors * panels - 1) / (vectors * panels);
        return {facts.lanes, vectors, facts.summed_channels(), panels, facts.frequencies(), blocks};
    }

    Type weight_type() const { return this->knobs.demote >= 1 ? BFloat(16) : Float(32); }

    WinogradFacts facts;
    WinogradMatrices along_x, along_y;
    int vectors = 1, panels = 1, ax = 1, ay = 1;

private:
    WinogradMatrices matrices(int d) const {
        const int m = extent(facts.m[d]), r = extent(this->loops.kernel[d]), count = m + r - 2;
        const int choice = std::min(extent(this->knobs.points), winograd_point_choices(count) - 1);
        return winograd_matrices(m, r, winograd_points(count, choice));
    }
};

class WinogradConv : public WithResult<WinogradGenerator<WinogradConv>> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 6>> weights{"weights"};  // lane, vector, ci, panel of a block, frequency, block

    void configure() {
        read_winograd();
        input.set_type(ConvTypes(workload).operand);
        weights.set_type(weight_type());
        add_result_operands();
    }

    void generate() {
        define_transformed();
        define_sum();
        define_output();
    }

    void schedule() {
        fix_activation(input, loops.stored_input);
        fix(weights, weight_extents());
        give_result_to(&s);
        apply_winograd(s, this->knobs, facts);
    }

private:
    // The input with zeros around it, in f32. The tests are gone inside: loop partitioning drops what is likely.
    Expr padded(const Expr &ci, const Expr &x, const Expr &y) const {
        const int channels = extent(loops.input_channels);
        const bool filled = facts.summed_channels() != channels;
        ElementMap map = loops.input_map;
        map[input_index::x].outside = map[input_index::y].outside = Outside::zero;  // of the last tiles, too
        const Expr value =
            element(input, loops.stored_input, map, {filled ? min(ci, channels - 1) : ci, x, y, s.z, s.n});
        return filled ? select(likely(ci < channels), value, 0.0f) : value;
    }

    void define_transformed() {
        std::vector<Expr> column, row;
        const Expr ci = s.channels * extent(facts.channel_step()) + s.lane;
        const Expr ix = s.tile_x * along_x.m + s.in_tile - extent(loops.pad_lo[0]);
        const Expr iy = s.tile_y * along_y.m + s.in_tile_y - extent(loops.pad_lo[1]);
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
            knobs.demote == 2 ? cast<bfloat16_t>(value) : value;
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
        const Expr co = channel_of({loops.output_channels, loops.output_block}, s.c, s.b);
        for (int i = 0; i < ax; i++) {
            row.push_back(s.output_columns(co, i, s.y % along_y.m, s.x / along_x.m, s.y / along_y.m, s.z, s.n));
        }
        define_result(s, entry_at(s.x % along_x.m, winograd_transform(along_x.at, row)));
    }

    WinogradStages s;
};

// Weights, HWIO or HWOI, transformed and in the order of the sum; channels that fill up are zeros. Packing happens
// once, so it can afford double, rounded once at the end.
class WinogradConvPack : public WinogradGenerator<WinogradConvPack> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<void, 6>> packed{"packed"};  // lane, vector, ci, panel of a block, frequency, block

    void configure() {
        read_winograd();
        kernel.set_type(ConvTypes(workload).operand);
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
        fix(kernel, {hwio ? co_extent : ci_extent, hwio ? ci_extent : co_extent, loops.kernel[0], loops.kernel[1], 1});
        fix(packed, weight_extents());
        packed.reorder(lane, frequency, ci, vector, panel, block).vectorize(lane, facts.lanes).unroll(frequency);
        columns.compute_at(packed, ci).vectorize(lane, facts.lanes).unroll(tap).unroll(row_frequency);
    }

private:
    Expr weight(int r) const {
        const int inputs = extent(loops.input_channels), outputs = extent(loops.output_channels);
        const Expr channel = ((block * panels + panel) * vectors + vector) * facts.lanes + lane;
        const Exprs indices{0, clamp(channel, 0, outputs - 1), min(ci, inputs - 1), tap, r, 0};
        Exprs at;
        for (const Place &place : loops.kernel_map) at.push_back(value_of(place.form, indices));
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        const Expr value = hwio ? kernel(at[0], at[1], at[2], at[3], 0) : kernel(at[1], at[0], at[2], at[3], 0);
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
