// The weights of the algorithms of conv.cpp, packed in exactly the order in which their sums read them.
#include <Halide.h>

#include "generators/activation.h"
#include "generators/direct/panel_generator.h"
#include "schedules/apply/computed_once.h"

namespace kiln {
namespace {

using namespace Halide;

// Weights, HWIO or HWOI, to panels, wherever the loops' map says that they lie; the last panel, and taps that a phase
// or a block does not have, are filled up with zeros.
class DirectConvPack : public PanelGenerator<DirectConvPack> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<void, 7>> packed{"packed"};  // as PanelForm says

    void configure() {
        read_panels();
        kernel.set_type(ConvTypes(workload).operand);
        packed.set_type(ConvTypes(workload).weight);
    }

    void generate() {
        const PanelForm form = panel_form();
        const int outputs = extent(loops.group_outputs());
        const int row = loops.group_panels ? outputs : extent(loops.output_channels);  // outputs of a row of panels
        const int row_panels = (row + panel_width() - 1) / panel_width();
        const Expr panel_in_row = loops.group_panels ? panel % row_panels : Expr(panel);
        const Expr in_row = (panel_in_row * form.vectors() + vector) * form.lanes() + lane,
                   known = min(in_row, row - 1);
        const Expr group = loops.group_panels ? panel / row_panels : loops.groups > 1 ? known / outputs : Expr(0);
        const Expr co = loops.group_panels || loops.groups == 1 ? known : known % outputs;
        packed(lane, vector, ci, s, r, t, panel) =
            select(likely(in_row < row), weight({group, co, ci, s, r, t}), cast(packed.type(), 0));
    }

    void schedule() {
        fix_kernel(kernel, hwio(), loops.kernel_map);
        panel_form().fix(packed, loops);
        apply_panel_pack(packed, {lane, panel_form().lanes()}, hwio());
    }

private:
    bool hwio() const { return workload.kernel_layout == KernelLayout::hwio; }

    Expr weight(const Exprs &indices) const {
        const Expr value = kernel_element(kernel, hwio(), loops.kernel_map, indices);
        return zero_outside(loops.kernel_map, indices, cast(packed.type(), value), Tests::together);
    }

    Var lane{"lane"}, vector{"vector"}, ci{"ci"}, s{"s"}, r{"r"}, t{"t"}, panel{"panel"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, direct_pack)
HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, phases_pack)
HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, input_phases_pack)
HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, separable_pack)
HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, space_to_depth_fused_pack)
HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, space_to_depth_prepared_pack)
