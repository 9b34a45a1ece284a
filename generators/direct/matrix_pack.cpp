// The weights of products of matrices, in the order in which they are read, each panel of integers with the sums of its weights.
#include <Halide.h>

#include "generators/activation.h"
#include "generators/direct/matrix_generator.h"
#include "generators/stored_sum.h"

namespace kiln {
namespace {

using namespace Halide;

class MatrixPack : public MatrixGenerator<MatrixPack> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<void, 3>> packed{"packed"};  // channel of a step, output, step of all panels

    void configure() {
        read_matrix();
        kernel.set_type(weight_type());
        packed.set_type(weight_type());
    }

    void generate() {
        const int columns = extent(loops.kernel[0]), tap_steps = extent(steps.chunks * steps.chunk_steps());
        const Expr of_panel = step / panel_steps(), in_panel = step % panel_steps();
        const Expr tap = min(in_panel / tap_steps, extent(steps.taps - 1)),
                   channel = in_panel % tap_steps * parts() + part;
        const Expr value = weight(of_panel * outputs() + lane, channel, tap % columns, tap / columns);
        packed(part, lane, step) =
            steps.has_sums ? select(in_panel < panel_steps() - 1, value, of_sum(of_panel)) : value;
    }

    void schedule() {
        fix_kernel(kernel, hwio(), loops.kernel_map);
        fix(packed, packed_steps());
        if (sums.defined()) sums.compute_root();
    }

private:
    bool hwio() const { return workload.kernel_layout == KernelLayout::hwio; }

    Expr of_sum(const Expr &of_panel) {
        const RDom taps(0, extent(loops.input_channels), 0, extent(loops.kernel[0]), 0, extent(loops.kernel[1]));
        sums = Func("sums");
        sums(lane, panel) = 0;
        sums(lane, panel) += cast<int32_t>(weight(panel * outputs() + lane, taps[0], taps[1], taps[2]));
        return cast(packed.type(), piece_of_sum(sums(lane, of_panel), part, packed.type()));
    }

    // Zero for outputs, channels and taps that there are not.
    Expr weight(const Expr &co, const Expr &ci, const Expr &s, const Expr &r) const {
        const int channels = extent(loops.input_channels), all = extent(loops.output_channels);
        const Exprs at{0, min(co, all - 1), min(ci, channels - 1), s, r, 0};
        const Expr stored = kernel_element(kernel, hwio(), loops.kernel_map, at);
        const Expr known = zero_outside(loops.kernel_map, at, stored, Tests::together);
        return select(co < all && ci < channels, known, cast(packed.type(), 0));
    }

    Var part{"part"}, lane{"lane"}, step{"step"}, panel{"panel"};
    Func sums;  // of a lane's weights
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::MatrixPack, matrix_pack)
