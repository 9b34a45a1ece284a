// Sums over channels and taps for a core without vectors, in code for layers of any size. As in dense.cpp, two pixels share a
// word, where a product by a weight is one instruction for both:
//
//   patch(tap, p, y)    the input that pair p of pixels multiplies by a tap of the window, or the zero point outside: a + b * 2^16
//   both(c, p, y, t)    the two products of step t
//   sum(c, p, y)        start + sum over steps: of words, and of their upper halves
//   output(c, x, y)     the result of the sum, rounded (ScalarResultStages)
//
// Columns of the window and channels are neighbours in a row of the input, so they count as one dimension, and so do those of
// the input: an element is outside or not, whichever its column is. With a window of 1x1 all pixels are one row.
#include <Halide.h>

#include "generators/scalar/paired_sum.h"
#include "generators/scalar/shared_conv.h"

namespace kiln {
namespace {

using namespace Halide;

class SharedDense : public SharedConv<SharedDense> {
public:
    Input<Buffer<void, 2>> input{"input"};  // elements of a row, rows

    void configure() {
        read_convolution();
        input.set_type(halide_type(workload.dtype));
        add_operands(shared_dense_sizes(loops, knobs));
    }

    void generate() {
        const auto at = [&](const Expr &x) { return cast<uint32_t>(cast<int32_t>(read(x))); };
        s.window = RDom(0, number("row_taps"), 0, number("kernel_rows"));
        s.patch(s.tap, s.p, s.y) = undef<uint32_t>();
        s.patch(s.window[0] + s.window[1] * number("row_taps"), s.p, s.y) =
            at(2 * s.p) + (at(2 * s.p + 1) << cast<uint32_t>(16));

        const Expr steps = number("taps") / 2;
        s.steps = RDom(0, steps);
        s.both(s.c, s.p, s.y, s.tap) = paired_products(product(2 * s.tap), product(2 * s.tap + 1));
        const Expr both = s.both(s.c, s.p, s.y, s.steps);
        const PairedSum start = paired_start(record(0, s.c), cast<uint32_t>(steps));
        s.sum(s.c, s.p, s.y) = {start.words, start.high};
        const Tuple sum = s.sum(s.c, s.p, s.y), of_pixel = s.sum(s.c, s.x / 2, s.y);
        s.sum(s.c, s.p, s.y) = {sum[0] + both, sum[1] + (both >> cast<uint32_t>(16))};
        const Expr total = paired_total({of_pixel[0], of_pixel[1]}, s.x % 2 == 0);
        (*output)(s.c, s.x, s.y) = rounded(s.rounding, {s.c, s.x, s.y}, total, Sums::of_any_terms);
    }

    void schedule() {
        const Expr width = extent(knobs.channels);
        fix_along(input, {{number("row_elements"), 1}, {number("rows"), number("row_elements")}});
        fix_operands(number("panels") * width,
                     {{width, 1}, {number("taps"), width}, {number("panels"), number("panel_weights")}});
        s.output = *output;
        s.all_taps = number("taps");
        apply_shared_dense(s, knobs);
    }

private:
    Expr own_record(int i) const override { return record(i, s.c); }

    // A row outside has no element inside.
    Expr read(const Expr &x) const {
        const Expr y = s.y * number("y_step") + s.window[1] * number("y_dilation") + number("y_first");
        const Expr element = x * number("x_step") + s.window[0] + number("x_first");
        const Expr end = select(y >= 0 && y < number("rows"), number("row_elements"), 0);
        return with_padding(element, end, input(element, y));
    }

    Expr product(const Expr &tap) const {
        const Expr weight = (*weights)(s.c % extent(knobs.channels), tap, s.c / extent(knobs.channels));
        return s.patch(tap, s.p, s.y) * cast<uint32_t>(cast<int32_t>(weight));
    }

    SharedDenseStages s;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::SharedDense, shared_dense)
