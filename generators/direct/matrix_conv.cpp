// Convolution as products of matrices in tile registers (AMX): quantized (workload/quantization/quantization.h), or of bf16.
//
//   rows(c, p, n)                = the input at x = p % row - px, y = p / row - py, and zero (the zero point) outside
//   products(lane, p, panel, n)  = sum over (channel, product, s, r) of
//                                  rows(product * channels + channel, p + r * row + s, n) * weights(channel, lane, ...)
//   output(c, x, y, z, b, n)     = epilogue(products(c % 16, y * row + x, c / 16, n) + first(c % 16, c / 16))
//   first(lane, panel)           = of integers, bias - zero point * sum of the weights
//
// Tile registers begin with zeros, so that what sums of integers begin with comes last; sums in between stay in i32, as the ranges
// of operands and the number of terms are limited. bf16 is multiplied exactly and added up in f32.
#include <Halide.h>

#include "generators/conv_result.h"
#include "generators/direct/matrix_generator.h"
#include "generators/stored_sum.h"
#include "schedules/apply/computed_once.h"
#include "schedules/apply/matrix_tile.h"

namespace kiln {
namespace {

using namespace Halide;

class MatrixConv : public WithResult<MatrixGenerator<MatrixConv>> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 3>> weights{"weights"};  // channel of a step, output, step of all panels

    void configure() {
        read_matrix();
        input.set_type(halide_type(workload.dtype));
        weights.set_type(weight_type());
        add_result_operands();
    }

    void generate() {
        if (!reads_in_place(loops, size_of(workload.dtype))) define_rows();
        define_products();
        s.sums(s.lane, s.p, s.panel, s.n) = s.products(s.lane, s.p, s.panel, s.n);
        const Expr co = channel_of({loops.output_channels, loops.output_block}, s.c, s.b);
        const Expr lane = co % outputs(), panel = co / outputs(), p = s.y * extent(row_positions(loops)) + s.x;
        const Expr sum = s.sums(lane, p, panel, s.n);
        define_result(s, steps.has_sums ? sum + first_of(lane, panel) : sum);
    }

    void schedule() {
        fix_activation(input, loops.stored_input);
        fix(weights, packed_steps());
        give_result_to(&s);
        if (first.defined()) apply_first({first, {s.lane, outputs()}, {{s.panel, panels()}}});
        apply_matrix_tile(s, knobs, loops);
    }

private:
    Expr zero_point() const {
        const Expr zero = steps.has_sums ? (*quantization.at(Role::input_zero_point))(0) : Expr(0);
        return cast(input.type(), zero);
    }

    Expr first_of(const Expr &lane, const Expr &panel) {
        const auto bias = step_inputs.find(EpilogueStep::Kind::bias);
        const Expr known = min(s.panel * outputs() + s.lane, extent(loops.output_channels - 1));
        const Expr start = bias == step_inputs.end() ? Expr(0) : (*bias->second)(known);
        first = Func("first");
        first(s.lane, s.panel) = start - cast<int32_t>(zero_point()) * sum_of_weights();
        return first(lane, panel);
    }

    // Channels behind the last are multiplied by weights that are zero: integers may be anything there, but what is no number
    // would stay so. Positions behind the last row may be anything: their sums are left, and their input may not exist.
    void define_rows() {
        ElementMap map = loops.input_map;
        for (int d = 0; d < 2; d++) {
            Place &place = map[input_index::x + d];
            if (place.outside == Outside::never) place.outside = Outside::any;
        }
        const int row = extent(row_positions(loops));
        s.channels = RDom(0, extent(loops.input_channels));
        const Expr in_row = is_one_row(loops) ? Expr(s.p) : s.p % row, line = is_one_row(loops) ? Expr(0) : s.p / row;
        const Exprs at{s.channels.x, in_row - extent(loops.pad_lo[0]), line - extent(loops.pad_lo[1]),
                       extent(-loops.pad_lo[2]), s.n};
        s.rows = Func("rows");
        const bool is_filled_up = steps.channels() != loops.input_channels && !steps.has_sums;
        s.rows(s.c, s.p, s.n) = is_filled_up ? cast(input.type(), 0) : undef(input.type());
        s.rows(s.channels.x, s.p, s.n) =
            with_outside(map, at, stored_element(input, loops.stored_input, map, at), zero_point(), Tests::apart);
    }

    void define_products() {
        const int channels = extent(steps.chunk_channels), chunks = extent(steps.chunks),
                  columns = extent(loops.kernel[0]);
        s.taps = RDom(0, channels, 0, chunks, 0, columns, 0, extent(loops.kernel[1]));
        const RVar channel(s.taps[0]), chunk(s.taps[1]), column(s.taps[2]), line(s.taps[3]);
        const Expr c = chunk * channels + channel, p = s.p + line * extent(row_positions(loops)) + column;
        const Expr tap = line * columns + column;
        const Expr step =
            s.panel * panel_steps() + (tap * chunks + chunk) * extent(steps.chunk_steps()) + channel / parts();
        const Expr value = s.rows.defined() ? Expr(s.rows(c, p, s.n)) : Expr(input(c, p, 0, 0, 0, s.n));
        const Type sum = ConvTypes(workload).sum;
        s.products(s.lane, s.p, s.panel, s.n) = cast(sum, 0);
        s.products(s.lane, s.p, s.panel, s.n) += cast(sum, value) * cast(sum, weights(channel % parts(), s.lane, step));
    }

    Expr sum_of_weights() const {
        Exprs pieces;
        for (int part = 0; part < parts(); part++)
            pieces.push_back(weights(part, s.lane, s.panel * panel_steps() + panel_steps() - 1));
        return sum_of_pieces(pieces);
    }

    MatrixStages s;
    Func first;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::MatrixConv, matrix)
