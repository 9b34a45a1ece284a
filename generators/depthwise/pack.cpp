// The weights of depthwise convolutions in vectors of columns: the taps of a channel side by side, as f32; those of channels that share a
// vector together. Channels behind the last repeat it.
#include <Halide.h>

#include "generators/activation.h"
#include "generators/conv_generator.h"
#include "schedules/spaces/depthwise/row_tile_space.h"
#include "workload/division.h"

namespace kiln {
namespace {

using namespace Halide;

class DepthwiseRowsPack : public ConvGenerator<DepthwiseRowsPack, RowTileKnobs> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<void, 5>> packed{"packed"};  // channel in vector, s, r, t, block of them

    void configure() {
        read_convolution();
        kernel.set_type(ConvTypes(workload).operand);
        packed.set_type(ConvTypes(workload).weight);
    }

    void generate() {
        const int multiplier = extent(loops.group_outputs()), together = extent(channels_of_vector(loops, knobs));
        const Expr at = block * together + in_block;
        const Expr channel = loops.output_channels % together == 0 ? at : min(at, extent(loops.output_channels - 1));
        packed(in_block, s, r, t, block) = cast(
            packed.type(),
            kernel_element(kernel, hwio(), loops.kernel_map, {channel / multiplier, channel % multiplier, 0, s, r, t}));
    }

    void schedule() {
        fix_kernel(kernel, hwio(), loops.kernel_map);
        const int64_t together = channels_of_vector(loops, knobs);
        fix(packed,
            {together, loops.kernel[0], loops.kernel[1], loops.kernel[2], ceil_div(loops.output_channels, together)});
    }

private:
    bool hwio() const { return workload.kernel_layout == KernelLayout::hwio; }

    Var in_block{"in_block"}, s{"s"}, r{"r"}, t{"t"}, block{"block"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DepthwiseRowsPack, depthwise_rows_pack)
