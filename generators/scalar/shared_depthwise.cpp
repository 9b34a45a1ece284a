// Sums of one input channel each for a core without vectors, in code for layers of any size. Window, strides, dilations and the
// outputs of a channel are compiled in.
//
//   window(c, x, y)   input channel c at column x and row y of the input, or the zero point outside
//   sum(c, x, y)      start + sum over (s, r) of weights(tap, c) * window
//   output(c, x, y)   the result of the sum, rounded (ScalarResultStages)
#include <Halide.h>

#include <algorithm>

#include "generators/scalar/shared_conv.h"

namespace kiln {
namespace {

using namespace Halide;

class SharedDepthwise : public SharedConv<SharedDepthwise> {
public:
    Input<Buffer<void, 3>> input{"input"};  // c, x, y

    void configure() {
        read_convolution();
        input.set_type(halide_type(workload.dtype));
        add_operands(shared_depthwise_sizes(loops, knobs));
    }

    void generate() {
        s.own(s.i, s.c) = (*records)(ScalarRequantization::record_size * s.c + s.i);
        // A row outside has no column inside.
        const Expr columns = number("input_columns"), rows = number("input_rows");
        const Expr end = select(s.y >= 0 && s.y < rows, columns, 0);
        s.window(s.c, s.x, s.y) = with_padding(s.x, end, input(s.c, s.x, s.y));

        s.taps = RDom(0, extent(loops.kernel[0]), 0, extent(loops.kernel[1]));
        const Expr tap = s.taps[0] + extent(loops.kernel[0]) * s.taps[1];
        const Expr read = s.window(s.c / extent(loops.group_outputs()), position(s.x, 0), position(s.y, 1));
        s.sum(s.c, s.x, s.y) = s.own(0, s.c);
        s.sum(s.c, s.x, s.y) += cast<int32_t>(read) * cast<int32_t>((*weights)(0, tap, s.c));
        (*output)(s.c, s.x, s.y) = rounded(s.rounding, {s.c, s.x, s.y}, s.sum(s.c, s.x, s.y), Sums::of_known_terms);
    }

    void schedule() {
        const Expr channels = number("chunks") * extent(knobs.channels);
        fix_along(input, {{number("input_channels"), 1},
                          {number("input_columns"), number("input_channels")},
                          {number("input_rows"), number("row_elements")}});
        const Expr taps = extent(loops.taps());
        fix_operands(channels, {{1, 1}, {taps, 1}, {channels, taps}});
        s.output = *output;
        s.columns = number("window_columns");
        s.channels = extent(std::max<int64_t>(1, knobs.channels / loops.group_outputs()));
        s.rows = extent(loops.reach(knobs.rows, 1));
        s.written = std::min(s.channels, 8);
        apply_shared_depthwise(s, knobs);
    }

private:
    Expr own_record(int i) const override { return s.own(i, s.c); }

    Expr position(const Expr &out, int d) const {
        return out * extent(loops.stride[d]) + s.taps[d] * extent(loops.dilation[d]) +
               number(d == 0 ? "x_first" : "y_first");
    }

    SharedDepthwiseStages s;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::SharedDepthwise, shared_depthwise)
