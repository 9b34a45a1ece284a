// The weights of depthwise convolutions in vectors of channels, as f32. Lanes behind the last channel repeat it.
#include <Halide.h>

#include "generators/activation.h"
#include "generators/depthwise/channel_panel.h"

namespace kiln {
namespace {

using namespace Halide;

class DepthwiseTurnedPack : public ChannelPanelGenerator<DepthwiseTurnedPack> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<void, 5>> packed{"packed"};  // lane, s, r, t, vector

    void configure() {
        read_channels();
        kernel.set_type(ConvTypes(workload).operand);
        packed.set_type(ConvTypes(workload).weight);
    }

    void generate() {
        const Expr channel = min(vector * lanes + lane, extent(loops.output_channels - 1));
        packed(lane, s, r, t, vector) =
            cast(packed.type(), kernel_element(kernel, hwio(), loops.kernel_map, {channel, 0, 0, s, r, t}));
    }

    void schedule() {
        fix_kernel(kernel, hwio(), loops.kernel_map);
        fix(packed, packed_weights());
    }

private:
    bool hwio() const { return workload.kernel_layout == KernelLayout::hwio; }

    Var lane{"lane"}, s{"s"}, r{"r"}, t{"t"}, vector{"vector"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DepthwiseTurnedPack, depthwise_turned_pack)
