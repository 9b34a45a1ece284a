// The weights of quantized sums, packed in the order in which they are read, each panel with the sums of its weights.
#include <Halide.h>

#include "generators/activation.h"
#include "generators/direct/quantized_panel.h"
#include "generators/stored_sum.h"

namespace kiln {
namespace {

using namespace Halide;

class QuantizedPack : public QuantizedPanelGenerator<QuantizedPack> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<void, 5>> packed{"packed"};  // part, lane, vector, step, panel

    void configure() {
        read_panels();
        kernel.set_type(halide_type(workload.kernel_dtype));
        packed.set_type(weight_type());
    }

    void generate() {
        const ConvLoops stated = conv_loops(workload);
        const int channels = extent(stated.input_channels), parts = extent(loops.parts);
        const int columns = extent(loops.kernel[0]), rows = extent(loops.kernel[1]), planes = extent(loops.kernel[2]);
        const int group_steps = extent(loops.input_channels);
        const int sum_rows = rows / sums_of_lane();  // of the kernel in each sum
        const RDom taps(0, channels, 0, extent(stated.kernel[0]), 0, sum_rows, 0, planes);
        sums(lane, vector, panel, which) = 0;
        sums(lane, vector, panel, which) +=
            weight(lane, vector, panel, {taps[0], taps[1], which * sum_rows + taps[2], taps[3]});

        const Expr ci = step % group_steps * parts + part, tap = min(step / group_steps, columns * rows * planes - 1);
        const Expr there = min(ci, filled() - 1), column = loops.joined ? there / channels : tap % columns;
        const Expr value =
            weight(lane, vector, panel,
                   {loops.joined ? there % channels : there, column, tap / columns % rows, tap / (columns * rows)});
        const Expr known = select(ci < filled(), value, 0);
        const Expr behind = max(step - steps(), 0), row = sums_of_lane() == 1 ? Expr(0) : behind / sum_steps();
        const Expr piece = (behind - row * sum_steps()) * parts + part;
        const Expr of_sum = piece_of_sum(sums(lane, vector, panel, row), piece, packed.type());
        packed(part, lane, vector, step, panel) =
            select(step < steps(), cast(packed.type(), known), cast(packed.type(), of_sum));
    }

    void schedule() {
        fix_kernel(kernel, hwio(), loops.kernel_map);
        fix(packed, packed_steps());
        sums.compute_root();
    }

private:
    bool hwio() const { return workload.kernel_layout == KernelLayout::hwio; }

    // At channel, column, row and plane; zero for lanes without an output.
    Expr weight(const Expr &of_lane, const Expr &of_vector, const Expr &of_panel, const Exprs &at) const {
        const OutputPlace output = output_of(of_lane, of_vector, of_panel);
        const Expr value = kernel_element(kernel, hwio(), loops.kernel_map,
                                          {output.group, output.in_group, at[0], at[1], at[2], at[3]});
        return select(output.in_row < output.row, cast<int32_t>(value), 0);
    }

    Var part{"part"}, lane{"lane"}, vector{"vector"}, step{"step"}, panel{"panel"}, which{"which"};
    Func sums{"sums"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::QuantizedPack, quantized_pack)
