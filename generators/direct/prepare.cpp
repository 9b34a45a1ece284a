// The input of `space_to_depth_prepared`: folded, padded, NHWC, of the input's dtype. For an input pipeline that does
// it once.
#include <Halide.h>

#include "generators/activation.h"
#include "generators/direct/panel_generator.h"
#include "schedules/apply/computed_once.h"

namespace kiln {
namespace {

using namespace Halide;

class FoldedPrepare : public PanelGenerator<FoldedPrepare> {
public:
    Input<Buffer<void, 6>> input{"input"};         // c in block, x, y, z, block, n
    Output<Buffer<void, 5>> prepared{"prepared"};  // folded channel, x, y, z, n

    void configure() {
        read_panels();
        input.set_type(ConvTypes(workload).operand);
        prepared.set_type(ConvTypes(workload).operand);
    }

    void generate() {
        const ConvLoops whole = conv_loops(workload);
        prepared(c, x, y, z, n) =
            cast(prepared.type(),
                 element(input, whole.stored_input, preparation(whole, fold_blocks), {c, x, y, z, n}, Tests::together));
    }

    void schedule() {
        fix_activation(input, conv_loops(workload).stored_input);
        fix(prepared, {loops.input_channels, loops.input[0], loops.input[1], loops.input[2], loops.batch});
        apply_prepare({prepared, {c, extent(loops.input_channels)}, y, lanes, knobs.parallel != 0});
    }

private:
    Var c{"c"}, x{"x"}, y{"y"}, z{"z"}, n{"n"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::FoldedPrepare, space_to_depth_prepared_prepare)
