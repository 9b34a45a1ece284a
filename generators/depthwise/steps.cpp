// Depthwise convolution of small integers in vectors of channels: each lane multiplies several columns of its channel at once.
//
//   padded(c, x, y, z, n)             = the input, shifted to 0 to 255, and its zero point outside
//   bytes(place, block, pair, ...)    = two columns of padded after each other; with `in_lanes`
//   pairs(place, block, pair, ...)    = the same, but those of a channel after each other
//   steps(place, block, step, ...)    = two pairs, those of a channel after each other; or one, where a step has two parts
//   centered(part, lane, step, panel) = weights less their zero points, where they have some
//   first(lane, panel)                = bias - zero point * sum of centered
//   sum(lane, panel, pixel, ...)      = first + sum over (part, group, r, t) of
//                                       centered(part, lane, step, panel) * steps(lane * parts + part, ...)
//   output(c, x, y, z, b, n)          = requantized(sum)
//
// Which columns are in which step: rewrites/column_steps.h.
#include <Halide.h>

#include <algorithm>
#include <map>

#include "generators/conv_result.h"
#include "generators/depthwise/step_panel.h"
#include "generators/shared_rows.h"
#include "generators/stored_sum.h"
#include "schedules/apply/computed_once.h"
#include "schedules/apply/depthwise/step_tile.h"

namespace kiln {
namespace {

using namespace Halide;

class QuantizedDepthwise : public WithResult<StepPanelGenerator<QuantizedDepthwise>> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 4>> weights{"weights"};  // part, lane, step, panel

    void configure() {
        read_steps();
        input.set_type(halide_type(workload.dtype));
        weights.set_type(weight_type());
        add_result_operands();
    }

    void generate() {
        centered = weights;
        if (workload.kernel_zero_point) define_centered();
        define_first();
        define_padded();
        define_steps();
        define_sum();
        const int pixels = extent(knobs.pixels), rows = extent(knobs.rows);
        const Expr total =
            s.sum(s.c % lanes, s.c / lanes, s.x % pixels, s.x / pixels, s.y % rows, s.y / rows, s.z, s.n);
        knobs.in_lanes ? define_result_in_lanes(total) : define_result(s, total);
    }

    void schedule() {
        fix_activation(input, loops.stored_input);
        fix(weights, packed_steps());
        give_result_to(&s);
        apply_first({first, {s.lane, lanes}, {{s.panel, panels()}}});
        if (workload.kernel_zero_point) {
            FirstOfSums once{centered, {s.lane, lanes}, {{tap_step, steps()}, {s.panel, panels()}}};
            once.parts = {part, parts()};
            apply_first(once);
        }
        for (const auto &[role, of_lane] : of_lanes) apply_first({of_lane, {s.lane, lanes}, {{s.panel, panels()}}});
        apply_step_tile(s, knobs, loops, {lanes, parts(), block_channels()});
    }

private:
    int block_channels() const { return extent(knobs.block) * lanes; }

    // What is added to numbers so that they are from 0 to 255.
    int shift() const { return workload.dtype == DType::i8 ? 128 : 0; }
    Expr zero_point() const { return (*quantization.at(Role::input_zero_point))(0) + shift(); }

    // The sum of a lane's weights, which the packed ones end with.
    Expr sum_of_weights() const {
        Exprs pieces;
        for (int part = 0; part < parts(); part++) pieces.push_back(weights(part, s.lane, steps(), s.panel));
        return sum_of_pieces(pieces);
    }

    Expr kernel_point() const { return (*quantization.at(Role::kernel_zero_point))(channel_of_lane(s.lane, s.panel)); }

    // Columns of a step that are none of the kernel's have the weight 0.
    void define_centered() {
        const Expr tap = of_columns.tap<Expr>(loops, tap_step % share(), tap_step / share() % groups(), part);
        const Expr point = select(tap >= 0 && tap < extent(loops.kernel[0]), kernel_point(), 0);
        centered = Func("centered");
        centered(part, s.lane, tap_step, s.panel) =
            weights(part, s.lane, tap_step, s.panel) - cast(weight_type(), point);
    }

    void define_first() {
        const auto bias = step_inputs.find(EpilogueStep::Kind::bias);
        const Expr start = bias == step_inputs.end() ? Expr(0) : (*bias->second)(channel_of_lane(s.lane, s.panel));
        Expr sum = sum_of_weights();
        if (workload.kernel_zero_point) sum -= kernel_point() * extent(loops.taps());
        first(s.lane, s.panel) = start - zero_point() * sum;
    }

    // Steps and tiles reach behind the last column and row: what they find there does not count.
    ElementMap map_of_padded() const {
        ElementMap map = loops.input_map;
        map[input_index::c].outside = Outside::never;
        for (const int i : {input_index::x, input_index::y}) {
            if (map[i].outside == Outside::never) map[i].outside = Outside::any;
        }
        return map;
    }

    Expr padded_element(const Expr &channel) const {
        const Exprs at{channel, s.x, s.y, s.z, s.n};
        const ElementMap map = map_of_padded();
        const Expr stored = stored_element(input, loops.stored_input, map, at);
        const Expr value = shift() ? cast<uint8_t>(stored) ^ cast<uint8_t>(shift()) : stored;
        return with_outside(map, at, cast(step_type(), value), cast(step_type(), zero_point()),
                            tests_of(knobs.partition));
    }

    // Where blocks of channels are whole, steps read the input as it lies. Else a copy has whole vectors of bytes, and what is
    // left as one vector of its own size: loads behind the last channel need no test.
    void define_padded() {
        constexpr int64_t whole = 64;
        const int64_t channels = loops.output_channels, vectors = channels / whole * whole;
        if (channels % block_channels() == 0) {
            s.padded(s.c, s.x, s.y, s.z, s.n) = padded_element(s.c);
            return;
        }
        s.padded(s.c, s.x, s.y, s.z, s.n) = undef(step_type());
        copy_channels(0, vectors, whole);
        copy_channels(vectors, channels - vectors, channels - vectors);
    }

    void copy_channels(int64_t from, int64_t count, int64_t in_vector) {
        if (count == 0) return;
        const RDom channel(extent(from), extent(count));
        s.padded(channel, s.x, s.y, s.z, s.n) = padded_element(channel);
        s.copied.push_back({channel, extent(in_vector)});
    }

    Expr pair_of(const Expr &pair) const {
        const int dilation = extent(loops.dilation[0]);
        const Expr channel = s.block * block_channels() + s.place / 2;
        const Expr from = parts() == 2 ? pair * extent(of_columns.unit) : of_columns.first_column(pair, dilation);
        const Expr x = from - extent(loops.pad_lo[0]);
        return select(s.place % 2 == 0, s.padded(channel, x, s.y, s.z, s.n),
                      s.padded(channel, x + dilation, s.y, s.z, s.n));
    }

    // Channels, and what belongs to each, are in the order of the sums up to the result.
    void define_result_in_lanes(const Expr &total) {
        const auto of_channel = [&](Role role) {
            if (!quantization.contains(role)) return Expr();
            Func &of_lane = of_lanes.emplace(role, Func("of_lane")).first->second;
            of_lane(s.lane, s.panel) = number_of(role, channel_of_lane(s.lane, s.panel));
            return Expr(of_lane(s.c % lanes, s.c / lanes));
        };
        const Staged staged = [&](const Expr &number) { return staged_number(s, "number", number); };
        staged_number(s, "result", requantize(workload, total, requantization(of_channel), staged));
        (*output)(s.c, s.x, s.y, s.z, s.b, s.n) = numbers.back()(sum_of_channel(s.c), s.x, s.y, s.z, s.b, s.n);
    }

    // What unpacking bytes of two vectors within 128 bits has at a place of them: its source in the first half of each 128 bits of a
    // vector, or in the second.
    Expr unpacked_from(const Expr &second_half) const {
        const int vector = 4 * lanes;
        return s.place % vector / 16 * 16 + second_half * 8 + s.place % 16 / 2;
    }

    void define_steps_in_lanes() {
        const int vector = 4 * lanes, dilation = extent(loops.dilation[0]);
        const Expr first = of_columns.first_column<Expr>(s.pair, dilation) - extent(loops.pad_lo[0]);
        s.bytes = Func("bytes"), s.pairs = Func("pairs");
        s.bytes(s.place, s.block, s.pair, s.y, s.z, s.n) =
            s.padded(s.block * vector + s.place % vector, first + s.place / vector * dilation, s.y, s.z, s.n);
        s.pairs(s.place, s.block, s.pair, s.y, s.z, s.n) =
            s.bytes(s.place % 2 * vector + unpacked_from(s.place / vector), s.block, s.pair, s.y, s.z, s.n);
        const Expr pair = s.step * extent(of_columns.of_step) + s.place % 2 * extent(of_columns.between);
        const Expr of_step = s.place / vector;
        s.steps(s.place, s.block, s.step, s.y, s.z, s.n) =
            s.pairs(of_step / 2 * vector + unpacked_from(of_step % 2), s.block, pair, s.y, s.z, s.n);
    }

    void define_steps() {
        if (knobs.in_lanes) return define_steps_in_lanes();
        if (parts() == 2) {
            s.steps(s.place, s.block, s.step, s.y, s.z, s.n) = pair_of(s.step);
            return;
        }
        s.pairs = Func("pairs");
        s.pairs(s.place, s.block, s.pair, s.y, s.z, s.n) = pair_of(s.pair);
        const Expr first_pair = s.step * extent(of_columns.of_step);
        s.steps(s.place, s.block, s.step, s.y, s.z, s.n) =
            select(s.place % 2 == 0, s.pairs(s.place / 2, s.block, first_pair, s.y, s.z, s.n),
                   s.pairs(s.place / 2, s.block, first_pair + extent(of_columns.between), s.y, s.z, s.n));
    }

    void define_sum() {
        const bool shares = shares_input_rows(loops, knobs);
        const SharedRows shared(loops, knobs.rows);
        const int rows = extent(knobs.rows), stride = extent(loops.stride[1]);
        const int tap_rows = shares ? shared.taps() : extent(loops.kernel[1]);
        s.taps = RDom(0, parts(), 0, groups(), 0, tap_rows, 0, extent(loops.kernel[2]));
        const RVar part(s.taps[0]), group(s.taps[1]), row(s.taps[2]), plane(s.taps[3]);
        const Expr y =
            shares ? s.y_tile * shared.step() + row - extent(loops.pad_lo[1])
                   : (s.y_tile * rows + s.row) * stride + row * extent(loops.dilation[1]) - extent(loops.pad_lo[1]);
        const Expr z = s.z * extent(loops.stride[2]) + plane * extent(loops.dilation[2]) - extent(loops.pad_lo[2]);
        const Expr of_kernel = shares ? shared.kernel_row(row, s.row) : Expr(row);
        const Expr known = shares ? shared.known(of_kernel) : of_kernel;
        const int in_tile = extent(knobs.pixels / of_columns.share * of_columns.of_output);
        const Expr step =
            s.x_tile * in_tile + s.pixel / share() * extent(of_columns.of_output) + group * extent(of_columns.of_group);
        const int of_block = extent(knobs.block);
        const Expr place = s.panel % of_block * (lanes * parts()) + s.lane * parts() + part;
        const Expr weight = centered(part, s.lane, step_of(s.pixel % share(), group, known, plane), s.panel);
        const Expr product = cast<int32_t>(weight) * cast<int32_t>(s.steps(place, s.panel / of_block, step, y, z, s.n));
        s.sum(s.lane, s.panel, s.pixel, s.x_tile, s.row, s.y_tile, s.z, s.n) = first(s.lane, s.panel);
        s.sum(s.lane, s.panel, s.pixel, s.x_tile, s.row, s.y_tile, s.z, s.n) +=
            shares ? shared.where_there(of_kernel, product, 0) : product;
    }

    StepStages s;
    Func first{"first"}, centered;
    std::map<Role, Func> of_lanes;  // operands of the result, in the order of the sums
    Var part{"part"}, tap_step{"tap_step"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::QuantizedDepthwise, quantized_depthwise)
