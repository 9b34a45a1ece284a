// Sums of one input channel each, depthwise convolutions among them, for a core without vectors:
//
//   record(i, c)        = constants of the channel, made when the weights are packed (scalar_requantize.h)
//   sum(c, x, y, zn)    = start + sum over (s, r, t) of weights(tap, c) * the input, or its zero point outside
//   output(c, x, y, zn) = the result of the sum, rounded (ScalarResultStages)
//
// where zn counts planes and images.
#include <Halide.h>

#include "generators/scalar/scalar_conv.h"

namespace kiln {
namespace {

using namespace Halide;

class ScalarDepthwise : public ScalarConv<ScalarDepthwise> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 3>> weights{"weights"};  // 0, tap, channel

    void configure() {
        read_convolution();
        input.set_type(halide_type(workload.dtype));
        weights.set_type(Int(8));
        add_records_and_output(4);
    }

    void generate() {
        s.own(s.i, s.c) = (*records)(ScalarRecords::size * s.c + s.i);

        s.taps = RDom(0, extent(loops.kernel[0]), 0, extent(loops.kernel[1]), 0, extent(loops.kernel[2]));
        const Expr tap = s.taps[0] + extent(loops.kernel[0]) * (s.taps[1] + extent(loops.kernel[1]) * s.taps[2]);
        const int planes = extent(loops.output[2]);
        const Exprs at{s.c / extent(loops.group_outputs()), position(s.x, 0), position(s.y, 1),
                       position(s.zn % planes, 2), s.zn / planes};
        s.sum(s.c, s.x, s.y, s.zn) = s.own(0, s.c);
        s.sum(s.c, s.x, s.y, s.zn) += input_value(input, at, knobs.partition) * cast<int32_t>(weights(0, tap, s.c));
        const Expr own[] = {s.own(0, s.c), s.own(1, s.c), s.own(2, s.c), s.own(3, s.c)};
        (*output)(s.c, s.x, s.y, s.zn) = rounded(s.rounding, {s.c, s.x, s.y, s.zn}, s.sum(s.c, s.x, s.y, s.zn), own);
    }

    void schedule() {
        fix_activation(input, loops.stored_input);
        fix(weights, ScalarPanels(loops, knobs).extents());
        fix(*output, {loops.output_channels, loops.output[0], loops.output[1], loops.output[2] * loops.batch});
        fix_records();
        s.output = *output;
        apply_scalar_depthwise(s, knobs, loops);
    }

private:
    Expr position(const Expr &out, int d) const {
        return out * extent(loops.stride[d]) + s.taps[d] * extent(loops.dilation[d]) - extent(loops.pad_lo[d]);
    }

    ScalarDepthwiseStages s;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::ScalarDepthwise, scalar_depthwise)
