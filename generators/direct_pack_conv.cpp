// The weights of the algorithms of direct_conv.cpp, packed in exactly the order in which their sums read them.
#include <Halide.h>

#include "generators/panel_generator.h"

namespace kiln {
namespace {

using namespace Halide;

// Weights, HWIO or HWOI, to panels in f32; the last panel, and taps that a phase does not have, are filled with zeros.
// For the gradient of the input the kernel is turned: back to front, its input and output channels exchanged.
class DirectConvPack : public PanelGenerator<DirectConvPack> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};    // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<float, 7>> packed{"packed"};  // lane, vector, ci, s, r, t, panel

    void configure() {
        read_panels();
        kernel.set_type(halide_type(workload.dtype));
    }

    void generate() {
        const int lanes = panel_lanes(), vectors = static_cast<int>(candidate.knob("vectors"));
        const int row = extent(shape.group_panels ? shape.group_outputs() : shape.output_channels);
        const int row_panels = (row + lanes * vectors - 1) / (lanes * vectors);
        const Expr panel_in_row = shape.group_panels ? panel % row_panels : Expr(panel);
        const Expr in_row = (panel_in_row * vectors + vector) * lanes + lane;
        const Expr first = shape.group_panels ? panel / row_panels * row : Expr(0);
        const Expr index = min(in_row, row - 1) + first;
        const Expr value = cast<float>(shape.all_phases() > 1 || has_window() ? of_phase(index)
                                       : is_fold(candidate.algorithm)         ? of_blocks(index)
                                                                              : of_whole(index, ci, {s, r, t}));
        packed(lane, vector, ci, s, r, t, panel) = select(likely(in_row < row), value, 0.0f);
    }

    void schedule() {
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        const int64_t ci_extent = workload.kernel[workload.spatial_rank], co_extent = workload.kernel.back();
        fix(kernel, {hwio ? co_extent : ci_extent, hwio ? ci_extent : co_extent, whole.kernel[0], whole.kernel[1],
                     whole.kernel[2]});
        fix(packed, packed_extents(shape));
        if (hwio) packed.vectorize(lane, panel_lanes());
    }

private:
    static int extent(int64_t e) { return static_cast<int>(e); }
    bool has_window() const { return whole.has_holes() && candidate.algorithm == "phases"; }

    // The kernel at output `index` of `whole`, input ci and tap (s, r, t).
    Expr of_whole(const Expr &index, const Expr &channel, const std::array<Expr, 3> &tap) const {
        Expr in = channel, out = index;
        std::array<Expr, 3> at = tap;
        if (whole.turned) {
            const int outputs = extent(whole.group_outputs());
            in = index % outputs, out = index / outputs * extent(whole.input_channels) + channel;
            for (int d = 0; d < 3; d++) at[d] = extent(whole.kernel[d]) - 1 - tap[d];
        }
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        return hwio ? kernel(out, in, at[0], at[1], at[2]) : kernel(in, out, at[0], at[1], at[2]);
    }

    // Of blocks of taps, as channels; zeros fill them up at both ends of the kernel.
    Expr of_blocks(const Expr &index) const {
        Expr rest = ci / extent(whole.input_channels), exists = Internal::const_true();
        std::array<Expr, 3> tap{s, r, t};
        for (int d = 0; d < 3; d++) {
            const int b = extent(blocks[d]), front = extent(folded_front(whole, blocks, d));
            const Expr reach = tap[d] * b + rest % b - front;
            rest = rest / b;
            tap[d] = clamp(reach, 0, extent(whole.kernel[d]) - 1);
            exists = exists && reach == tap[d];
        }
        return select(exists, of_whole(index, ci % extent(whole.input_channels), tap), cast(kernel.type(), 0));
    }

    Expr of_phase(const Expr &index) const {
        const int outputs = extent(whole.group_outputs()), phases = extent(shape.all_phases());
        Expr rest = index / outputs % phases, exists = Internal::const_true();
        std::array<Expr, 3> tap{s, r, t};
        for (int d = 0; d < 3; d++) {
            const PhaseTaps taps = phase_taps(whole, shape, d);
            const Expr reach =
                tap[d] * extent(taps.scale) + extent(taps.shift) - rest % extent(shape.phases[d]) * extent(taps.step);
            rest = rest / extent(shape.phases[d]);
            tap[d] = clamp(reach / extent(taps.dilation), 0, extent(taps.kernel) - 1);
            exists = exists && reach == tap[d] * extent(taps.dilation);
        }
        return select(exists, of_whole(index / (outputs * phases) * outputs + index % outputs, ci, tap),
                      cast(kernel.type(), 0));
    }

    Var lane{"lane"}, vector{"vector"}, ci{"ci"}, s{"s"}, r{"r"}, t{"t"}, panel{"panel"};
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, direct_pack)
HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, phases_pack)
HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, input_phases_pack)
HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, space_to_depth_fused_pack)
HALIDE_REGISTER_GENERATOR(kiln::DirectConvPack, space_to_depth_prepared_pack)
