// The input of `space_to_depth_prepared`: folded, padded, NHWC, of the input's dtype. For an input pipeline that does
// it once.
#include <Halide.h>

#include "generators/folded_input.h"
#include "generators/panel_generator.h"

namespace kiln {
namespace {

using namespace Halide;

class FoldedPrepare : public PanelGenerator<FoldedPrepare> {
public:
    Input<Buffer<void, 6>> input{"input"};         // c in block, x, y, z, block, n
    Output<Buffer<void, 5>> prepared{"prepared"};  // folded channel, x, y, z, n

    void configure() {
        read_panels();
        input.set_type(halide_type(workload.dtype));
        prepared.set_type(halide_type(workload.dtype));
    }

    void generate() {
        // Positions count from the first that an output reads.
        std::array<Expr, 3> at{x, y, z};
        for (int d = 0; d < 3; d++) {
            at[d] -= static_cast<int>((whole.pad_lo[d] + folded_front(whole, blocks, d)) / blocks[d]);
        }
        prepared(c, x, y, z, n) =
            cast(prepared.type(), folded_input(whole, blocks, input, {c, at[0], at[1], at[2], n}));
    }

    void schedule() {
        fix_activation(input, whole.stored_input_channels(), whole.input_block, whole.input);
        fix(prepared, {shape.input_channels, shape.input[0], shape.input[1], shape.input[2], shape.batch});
        const int lanes = std::min<int>(panel_lanes(), static_cast<int>(shape.input_channels));
        if (lanes > 1) prepared.vectorize(c, lanes, TailStrategy::GuardWithIf);
        if (candidate.knob("parallel")) prepared.parallel(y);
    }

private:
    Var c{"c"}, x{"x"}, y{"y"}, z{"z"}, n{"n"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::FoldedPrepare, space_to_depth_prepared_prepare)
