// The weights of depthwise convolutions in vectors of columns: the taps of a channel side by side, as f32.
#include <Halide.h>

#include "generators/activation.h"
#include "generators/conv_generator.h"
#include "schedules/spaces/depthwise/row_tile_knobs.h"

namespace kiln {
namespace {

using namespace Halide;

class DepthwiseRowsPack : public ConvGenerator<DepthwiseRowsPack, RowTileKnobs> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<void, 4>> packed{"packed"};  // s, r, t, channel

    void configure() {
        read_convolution();
        kernel.set_type(ConvTypes(workload).operand);
        packed.set_type(ConvTypes(workload).weight);
    }

    void generate() {
        const int multiplier = extent(loops.group_outputs());
        packed(s, r, t, channel) = cast(
            packed.type(),
            kernel_element(kernel, hwio(), loops.kernel_map, {channel / multiplier, channel % multiplier, 0, s, r, t}));
    }

    void schedule() {
        fix_kernel(kernel, hwio(), loops.kernel_map);
        fix(packed, {loops.kernel[0], loops.kernel[1], loops.kernel[2], loops.output_channels});
    }

private:
    bool hwio() const { return workload.kernel_layout == KernelLayout::hwio; }

    Var s{"s"}, r{"r"}, t{"t"}, channel{"channel"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DepthwiseRowsPack, depthwise_rows_pack)
