// Quantized convolution (workload/quantization/quantization.h): the direct sum of conv.cpp with products of small integers.
//
//   padded(c, x, y, z, n)                  = the input, shifted to 0 to 255, and its zero point outside
//   points(part, lane, vector, panel)      = the zero point of the weights of a lane
//   first(lane, vector, panel, y)          = bias - zero point * sum of (weights - points), without those of rows that are skipped
//   sum(lane, vector, panel, x, y, z, n)   = first + sum over (part, ci, s, r, t) of
//                                            (weights(part, lane, vector, step(ci, s, r, t), panel) - points) *
//                                            padded((first(group) + ci) * parts + part, x * sx + s * dx - px, ...)
//   output(c, x, y, z, b, n)               = requantized(sum)
//
// Sums in between stay in i32, as the ranges of operands and the number of terms are limited.
#include <Halide.h>

#include "generators/conv_result.h"
#include "generators/direct/quantized_panel.h"
#include "generators/direct/sum.h"
#include "generators/stored_sum.h"
#include "schedules/apply/computed_once.h"
#include "schedules/apply/cpu_tile.h"

namespace kiln {
namespace {

using namespace Halide;

class QuantizedConv : public WithResult<QuantizedPanelGenerator<QuantizedConv>> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 5>> weights{"weights"};  // part, lane, vector, step, panel

    void configure() {
        read_panels();
        input.set_type(halide_type(workload.dtype));
        weights.set_type(weight_type());
        add_result_operands();
    }

    void generate() {
        define_first();
        s.padded(s.c, s.x, s.y, s.z, s.n) = shifted_input({s.c, s.x, s.y, s.z, s.n}, map_of_padded(), input_type());
        if (workload.kernel_zero_point) define_points();
        const Expr total = direct_sum({loops, knobs, lanes, weights, s, first, points, filled()});
        keeps_addend = adds_twice(knobs, loops, target_of_kiln);
        define_result(s, total);
    }

    void schedule() {
        fix_activation(input, loops.stored_input);
        fix(weights, packed_steps());
        give_result_to(&s);
        FirstOfSums sums{first, {lane, lanes}};
        sums.around = {{vector, extent(knobs.vectors)}, {panel, extent(loops.panels(panel_width()))}};
        sums.vector = lanes;
        if (knobs.skip_rows) sums.in_order = {lane, vector, y, panel};
        apply_first(sums);
        if (points.defined()) {
            sums.first = points;
            sums.in_order.clear();
            sums.parts = {part, extent(loops.parts)};
            apply_first(sums);
        }
        s.input = input;
        apply_cpu_tile(s, knobs, loops, target_of_kiln);
    }

private:
    // What is added to numbers so that they are from 0 to 255.
    int shift() const { return workload.dtype == DType::i8 ? 128 : 0; }
    Expr zero_point() const { return (*quantization.at(Role::input_zero_point))(0) + shift(); }

    // Rows that the sum leaves out may hold anything. Tiles that do not divide the rows compute some below the last, which are not
    // stored; their input may not exist.
    ElementMap map_of_padded() const {
        ElementMap map = loops.input_map;
        Place &row = map[input_index::y];
        if (knobs.skip_rows && row.outside == Outside::zero) row.outside = Outside::any;
        if (loops.output[1] % knobs.rows != 0 && row.outside == Outside::never) row.outside = Outside::any;
        return map;
    }

    Expr shifted_input(const Exprs &at, const ElementMap &map, const Type &type) const {
        const Expr stored = stored_element(input, loops.stored_input, map, at);
        const Expr value = shift() ? cast<uint8_t>(stored) ^ cast<uint8_t>(shift()) : stored;
        return with_outside(map, at, cast(type, value), cast(type, zero_point()), tests_of(knobs.partition));
    }

    // One of the sums of a lane's weights, which the packed ones end with.
    Expr sum_of_weights(int which) const {
        const int parts = extent(loops.parts), from = steps() + which * sum_steps();
        Exprs pieces;
        for (int i = 0; i < sum_steps() * parts; i++)
            pieces.push_back(weights(i % parts, lane, vector, from + i / parts, panel));
        return sum_of_pieces(pieces);
    }

    Expr kernel_point() const {
        return (*quantization.at(Role::kernel_zero_point))(output_of(lane, vector, panel).channel);
    }

    void define_points() {
        points = Func("points");
        points(part, lane, vector, panel) = cast(weight_type(), kernel_point());
    }

    Expr sum_without_points(int which) const {
        const Expr sum = sum_of_weights(which);
        if (!workload.kernel_zero_point) return sum;
        const int64_t terms = filled() * (loops.joined ? 1 : loops.kernel[0]) * loops.kernel[1] * loops.kernel[2];
        return sum - kernel_point() * (extent(terms) / sums_of_lane());
    }

    // Those of the rows that an output of row y reads.
    Expr sum_of_rows() const {
        Expr sum = 0;
        for (int r = 0; r < sums_of_lane(); r++) {
            const Expr row = y * extent(loops.stride[1]) + r * extent(loops.dilation[1]) - extent(loops.pad_lo[1]);
            sum += select(is_inside(loops.position(1), {0, 0, row, 0, 0}), sum_without_points(r), 0);
        }
        return sum;
    }

    void define_first() {
        const auto bias = step_inputs.find(EpilogueStep::Kind::bias);
        const Expr start =
            bias == step_inputs.end() ? Expr(0) : (*bias->second)(output_of(lane, vector, panel).channel);
        if (knobs.skip_rows) {
            first(lane, vector, panel, y) = start - zero_point() * sum_of_rows();
        } else {
            first(lane, vector, panel) = start - zero_point() * sum_without_points(0);
        }
    }

    ConvStages s;
    Func first{"first"}, points;
    Var part{"part"}, lane{"lane"}, vector{"vector"}, panel{"panel"}, y{"y"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::QuantizedConv, quantized)
