// Sums over channels and taps for a core without vectors, a matrix product of what each pixel reads and the weights:
//
//   record(i, c)    = constants of the channel, made when the weights are packed (scalar_requantize.h)
//   pixel(tap, p)   = what pixel p multiplies by tap, where it has to be looked for: in loops over the window, as the division of a
//                     number of a tap takes longer than what it is for
//   patch(tap, p)   = the input that pixel p multiplies by tap, or the zero point outside; with pairs, those of two pixels:
//                     a + b * 2^16
//   both(c, p, n)   = with pairs, the two products of step n
//   sum(c, p)       = start + sum over taps of weights(tap, c) * patch(tap, p)
//   output(c, p)    = the result of the sum, rounded (ScalarResultStages)
//
// Why two pixels fit a word: paired_sum.h.
#include <Halide.h>

#include "generators/scalar/paired_sum.h"
#include "generators/scalar/scalar_conv.h"

namespace kiln {
namespace {

using namespace Halide;

class ScalarDense : public ScalarConv<ScalarDense> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 3>> weights{"weights"};  // k, tap, panel

    void configure() {
        read_convolution();
        input.set_type(halide_type(workload.dtype));
        weights.set_type(Int(8));
        add_records_and_output(2);
    }

    void generate() {
        const Expr total = knobs.paired ? sum_of_pairs() : sum_of_pixels();
        const Expr own[] = {record(0, s.c), record(1, s.c), record(2, s.c), record(3, s.c)};
        (*output)(s.c, s.p) = rounded(s.rounding, {s.c, s.p}, total, own);
    }

    void schedule() {
        const ScalarPanels packed(loops, knobs);
        fix_activation(input, loops.stored_input);
        fix(weights, packed.extents());
        fix(*output, {loops.output_channels, pixels()});
        fix_records();
        s.output = *output;
        s.copies = knobs.paired || gathers();
        apply_scalar_dense(s, knobs, {packed.taps, packed.panels, packed.width, extent(loops.input_channels)});
    }

private:
    // Whether what a tap reads has to be looked for.
    bool gathers() const {
        return loops.taps() > 1 || loops.leaves_input(0) || loops.leaves_input(1) || loops.leaves_input(2);
    }
    int pixels() const { return extent(loops.output[0] * loops.output[1] * loops.output[2] * loops.batch); }

    // Takes the lowest digit from a number that is less than `left`. The highest one needs no remainder.
    static Expr digit(Expr *number, int base, int *left) {
        const Expr lowest = base == *left ? *number : *number % base;
        *number = base == *left ? Expr(0) : *number / base;
        *left /= base;
        return lowest;
    }

    // `tap`: channel, column, row and plane of the window. Answers channel, x, y, z and image of the input. Pixels behind the last
    // one are any that exist: their results are not stored.
    Exprs place(const Exprs &tap, const Expr &pixel) const {
        Exprs at{tap[0]};
        Expr of_pixel = min(pixel, pixels() - 1);
        int outputs_left = pixels();
        for (int d = 0; d < 3; d++) {
            const Expr out = digit(&of_pixel, extent(loops.output[d]), &outputs_left);
            at.push_back(out * extent(loops.stride[d]) + tap[size_t(d) + 1] * extent(loops.dilation[d]) -
                         extent(loops.pad_lo[d]));
        }
        at.push_back(of_pixel);
        return at;
    }

    // Where nothing is outside and windows have one tap. Channels behind the last one are any that exist: their weights are zero.
    Expr read(const Expr &channel, const Expr &pixel) const {
        return input_value(input, place({min(channel, extent(terms()) - 1), 0, 0, 0}, pixel), 0);
    }

    // to(tap, p) = what pixel p multiplies by each tap of its window.
    void gather(Func &to) {
        s.window = RDom(0, extent(loops.input_channels), 0, extent(loops.kernel[0]), 0, extent(loops.kernel[1]), 0,
                        extent(loops.kernel[2]));
        Expr tap = 0;
        for (int d = 4; d-- > 0;) tap = tap * s.window[d].extent() + s.window[d];
        to(s.tap, s.p) = undef<int8_t>();
        to(tap, s.p) =
            cast<int8_t>(existing_value(input, place({s.window[0], s.window[1], s.window[2], s.window[3]}, s.p)));
        // With a weight of zero.
        if (ScalarPanels(loops, knobs).taps > terms()) to(extent(terms()), s.p) = cast<int8_t>(0);
    }

    Expr weight(const Expr &tap) const {
        const int width = ScalarPanels(loops, knobs).width;
        return cast<int32_t>(weights(s.c % width, tap, s.c / width));
    }

    Expr sum_of_pixels() {
        if (gathers()) {
            gather(s.patch);
        } else {
            s.patch(s.tap, s.p) = cast<int8_t>(read(s.tap, s.p));
        }
        s.steps = RDom(0, ScalarPanels(loops, knobs).taps);
        s.sum(s.c, s.p) = record(0, s.c);
        s.sum(s.c, s.p) += cast<int32_t>(s.patch(s.steps, s.p)) * weight(s.steps);
        return s.sum(s.c, s.p);
    }

    Expr sum_of_pairs() {
        // Pixels are read one by one before they are paired: where Halide sees the factor 2 in a remainder, it proves
        // bounds that contradict the input's.
        if (gathers()) gather(s.pixel);
        const auto at = [&](const Expr &p) {
            return cast<uint32_t>(gathers() ? cast<int32_t>(s.pixel(s.tap, p)) : read(s.tap, p));
        };
        s.patch(s.tap, s.p) = at(2 * s.p) + (at(2 * s.p + 1) << cast<uint32_t>(16));
        const int steps = ScalarPanels(loops, knobs).taps / 2;
        s.steps = RDom(0, steps);
        const Expr first = s.patch(2 * s.tap, s.p) * cast<uint32_t>(weight(2 * s.tap));
        const Expr second = s.patch(2 * s.tap + 1, s.p) * cast<uint32_t>(weight(2 * s.tap + 1));
        s.both(s.c, s.p, s.tap) = paired_products(first, second);
        const PairedSum start = paired_start(record(0, s.c), word(static_cast<uint32_t>(steps)));
        s.sum(s.c, s.p) = {start.words, start.high};
        const Expr both = s.both(s.c, s.p, s.steps);
        s.sum(s.c, s.p) = {s.sum(s.c, s.p)[0] + both, s.sum(s.c, s.p)[1] + (both >> cast<uint32_t>(16))};
        return paired_total({s.sum(s.c, s.p / 2)[0], s.sum(s.c, s.p / 2)[1]}, s.p % 2 == 0);
    }

    ScalarDenseStages s;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::ScalarDense, scalar_dense)
