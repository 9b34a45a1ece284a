// The weights of the algorithms for cores without vectors, in the order in which their sums read them (ScalarPanels).
#include <Halide.h>

#include "generators/activation.h"
#include "generators/scalar/scalar_conv.h"

namespace kiln {
namespace {

using namespace Halide;

class ScalarPack : public ConvGenerator<ScalarPack, ScalarTileKnobs> {
public:
    Input<Buffer<int8_t, 5>> kernel{"kernel"};   // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<int8_t, 3>> packed{"packed"};  // k, tap, panel

    void configure() { read_convolution(); }

    void generate() {
        const ScalarPanels panels(loops, knobs);
        const int terms = extent(loops.taps() * loops.input_channels);
        const RDom taps(0, terms);
        sums(k, panel) = 0;
        sums(k, panel) += weight(k, taps, panel);
        const Expr of_sum = sums(k, panel) >> cast<uint32_t>(8 * clamp(tap - panels.taps, 0, 3));
        packed(k, tap, panel) =
            cast<int8_t>(select(tap < terms, weight(k, min(tap, terms - 1), panel), tap < panels.taps, 0, of_sum));
    }

    void schedule() {
        fix_kernel(kernel, hwio(), loops.kernel_map);
        fix(packed, ScalarPanels(loops, knobs).extents());
        sums.compute_root();
    }

private:
    bool hwio() const { return workload.kernel_layout == KernelLayout::hwio; }

    // Zero behind the last channel.
    Expr weight(const Expr &in_panel, const Expr &of_tap, const Expr &of_panel) const {
        const int channels = extent(loops.input_channels), outputs = extent(loops.group_outputs());
        const Expr co = of_panel * ScalarPanels(loops, knobs).width + in_panel;
        const Expr known = min(co, extent(loops.output_channels) - 1);
        Expr rest = of_tap / channels;
        Exprs at{known / outputs, known % outputs, of_tap % channels};
        for (int d = 0; d < 3; d++) {
            at.push_back(rest % extent(loops.kernel[d]));
            rest = rest / extent(loops.kernel[d]);
        }
        const Expr value = cast<int32_t>(kernel_element(kernel, hwio(), loops.kernel_map, at));
        return select(co < extent(loops.output_channels), value, 0);
    }

    Var k{"k"}, tap{"tap"}, panel{"panel"};
    Func sums{"sums"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::ScalarPack, scalar_depthwise_pack)
HALIDE_REGISTER_GENERATOR(kiln::ScalarPack, scalar_dense_pack)
