// The weights of depthwise sums of small integers: steps of columns, and the sum of each channel's weights in i32.
#include <Halide.h>

#include "generators/activation.h"
#include "generators/depthwise/step_panel.h"
#include "generators/stored_sum.h"

namespace kiln {
namespace {

using namespace Halide;

class QuantizedDepthwisePack : public StepPanelGenerator<QuantizedDepthwisePack> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<void, 4>> packed{"packed"};  // part, lane, step, panel

    void configure() {
        read_steps();
        kernel.set_type(halide_type(workload.kernel_dtype));
        packed.set_type(weight_type());
    }

    void generate() {
        const int columns = extent(loops.kernel[0]), rows = extent(loops.kernel[1]);
        const Expr channel = channel_of_lane(lane, panel);
        const RDom taps(0, columns, 0, rows, 0, extent(loops.kernel[2]));
        sums(lane, panel) = 0;
        sums(lane, panel) += weight(channel, taps[0], taps[1], taps[2]);

        const Expr known = min(step, steps() - 1), which = known % share(), group = known / share() % groups(),
                   row = known / (share() * groups()) % rows, plane = known / (share() * groups() * rows);
        const Expr tap = of_columns.tap<Expr>(loops, which, group, part);
        const Expr value = weight(channel, clamp(tap, 0, columns - 1), row, plane);
        const Expr of_step = select(tap >= 0 && tap < columns, value, 0);
        const Expr of_sum = piece_of_sum(sums(lane, panel), part, packed.type());
        packed(part, lane, step, panel) = cast(packed.type(), select(step < steps(), of_step, of_sum));
    }

    void schedule() {
        fix_kernel(kernel, hwio(), loops.kernel_map);
        fix(packed, packed_steps());
        sums.compute_root();
    }

private:
    bool hwio() const { return workload.kernel_layout == KernelLayout::hwio; }

    Expr weight(const Expr &channel, const Expr &s, const Expr &r, const Expr &t) const {
        return cast<int32_t>(kernel_element(kernel, hwio(), loops.kernel_map, {channel, 0, 0, s, r, t}));
    }

    Var part{"part"}, lane{"lane"}, step{"step"}, panel{"panel"};
    Func sums{"sums"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::QuantizedDepthwisePack, quantized_depthwise_pack)
