// Quantized convolution (workload/quantization/quantization.h) as products of matrices in tile registers (AMX).
//
//   rows(c, p, n)                = the input at x = p % row - px, y = p / row - py, and its zero point outside
//   products(lane, p, panel, n)  = sum over (channel, product, s, r) of
//                                  rows(product * channels + channel, p + r * row + s, n) * weights(channel, lane, ...)
//   output(c, x, y, z, b, n)     = requantized(products(c % 16, y * row + x, c / 16, n) + first(c % 16, c / 16))
//   first(lane, panel)           = bias - zero point * sum of the weights
//
// Tile registers begin with zeros, so that what sums begin with comes last; sums in between stay in i32, as the ranges of operands
// and the number of terms are limited.
#include <Halide.h>

#include "generators/conv_result.h"
#include "generators/direct/matrix_generator.h"
#include "schedules/apply/matrix_tile.h"

namespace kiln {
namespace {

using namespace Halide;

class QuantizedMatrix : public WithResult<MatrixGenerator<QuantizedMatrix>> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 3>> weights{"weights"};  // channel of a step, output, step of all panels

    void configure() {
        read_matrix();
        input.set_type(halide_type(workload.dtype));
        weights.set_type(halide_type(workload.kernel_dtype));
        add_result_operands();
    }

    void generate() {
        if (!reads_in_place(loops)) define_rows();
        define_products();
        s.sums(s.lane, s.p, s.panel, s.n) = s.products(s.lane, s.p, s.panel, s.n);
        const auto bias = step_inputs.find(EpilogueStep::Kind::bias);
        const Expr known = min(s.panel * outputs() + s.lane, extent(loops.output_channels - 1));
        const Expr start = bias == step_inputs.end() ? Expr(0) : (*bias->second)(known);
        first(s.lane, s.panel) = start - zero_point() * sum_of_weights();
        const Expr co = channel_of({loops.output_channels, loops.output_block}, s.c, s.b);
        const Expr lane = co % outputs(), panel = co / outputs(), p = s.y * extent(row_positions(loops)) + s.x;
        define_result(s, s.sums(lane, p, panel, s.n) + first(lane, panel));
    }

    void schedule() {
        fix_activation(input, loops.stored_input);
        fix(weights, packed_steps());
        give_result_to(&s);
        first.compute_root().bound(s.lane, 0, outputs()).bound(s.panel, 0, panels()).vectorize(s.lane);
        apply_matrix_tile(s, knobs, loops);
    }

private:
    Expr zero_point() const { return (*quantization.at(Role::input_zero_point))(0); }

    // Channels behind the last are multiplied by weights that are zero: they may be anything. So may positions behind the last row,
    // whose sums are left; their input may not exist.
    void define_rows() {
        ElementMap map = loops.input_map;
        for (int d = 0; d < 2; d++) {
            Place &place = map[input_index::x + d];
            if (place.outside == Outside::never) place.outside = Outside::any;
        }
        const int row = extent(row_positions(loops));
        s.channels = RDom(0, extent(loops.input_channels));
        const Expr in_row = is_one_row(loops) ? Expr(s.p) : s.p % row, line = is_one_row(loops) ? Expr(0) : s.p / row;
        const Exprs at{s.channels.x, in_row - extent(loops.pad_lo[0]), line - extent(loops.pad_lo[1]), 0, s.n};
        s.rows = Func("rows");
        s.rows(s.c, s.p, s.n) = undef(input.type());
        s.rows(s.channels.x, s.p, s.n) = with_outside(map, at, stored_element(input, loops.stored_input, map, at),
                                                      cast(input.type(), zero_point()), Tests::apart);
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
        s.products(s.lane, s.p, s.panel, s.n) = 0;
        s.products(s.lane, s.p, s.panel, s.n) +=
            cast<int32_t>(value) * cast<int32_t>(weights(channel % parts(), s.lane, step));
    }

    Expr sum_of_weights() const {
        Expr sum = cast<uint32_t>(0);
        for (int part = 0; part < parts(); part++) {
            const Expr stored = weights(part, s.lane, s.panel * panel_steps() + panel_steps() - 1);
            sum = sum | (cast<uint32_t>(reinterpret<uint8_t>(stored)) << (8 * part));
        }
        return reinterpret<int32_t>(sum);
    }

    MatrixStages s;
    Func first{"first"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::QuantizedMatrix, quantized_matrix)
