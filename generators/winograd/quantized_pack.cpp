// The packed weights of Winograd convolutions in integers: g_y K g_x^T, in pairs of input channels; channels that fill up are zeros.
#include <Halide.h>

#include "generators/activation.h"
#include "generators/winograd/quantized_winograd.h"
#include "generators/winograd/transform.h"
#include "schedules/apply/winograd.h"

namespace kiln {
namespace {

using namespace Halide;

class QuantizedWinogradPack : public QuantizedWinogradGenerator<QuantizedWinogradPack> {
public:
    Input<Buffer<void, 5>> kernel{"kernel"};      // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<int16_t, 7>> packed{"packed"};  // part, lane, vector, pair, panel of a block, frequency, block

    void configure() {
        read_quantized_winograd();
        kernel.set_type(halide_type(workload.kernel_dtype));
    }

    void generate() {
        std::vector<Expr> column, row;
        for (int r = 0; r < along_y.r; r++) column.push_back(weight(r));
        s.columns(s.part, s.lane, s.vector, s.step, s.tap, s.row_frequency, s.panel, s.block) =
            entry_at(s.row_frequency, winograd_transform(along_y.g, column));
        for (int i = 0; i < along_x.r; i++)
            row.push_back(s.columns(s.part, s.lane, s.vector, s.step, i, s.frequency / ax, s.panel, s.block));
        packed(s.part, s.lane, s.vector, s.step, s.panel, s.frequency, s.block) =
            entry_at(s.frequency % ax, winograd_transform(along_x.g, row));
    }

    void schedule() {
        fix_kernel(kernel, workload.kernel_layout == KernelLayout::hwio, loops.kernel_map);
        fix(packed, packed_pairs());
        s.packed = packed;
        apply_winograd_pair_pack(s);
    }

private:
    Expr weight(int r) const {
        const int inputs = extent(loops.input_channels), outputs = extent(loops.output_channels);
        const Expr co = ((s.block * panels + s.panel) * vectors + s.vector) * facts.lanes + s.lane,
                   ci = s.step * parts + s.part;
        const Exprs indices{0, clamp(co, 0, outputs - 1), min(ci, inputs - 1), s.tap, r, 0};
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        const Expr stored = cast<int16_t>(kernel_element(kernel, hwio, loops.kernel_map, indices));
        const Expr value = zero_outside(loops.kernel_map, indices, stored, Tests::apart);
        return select(likely(co < outputs && ci < inputs), value, cast<int16_t>(0));
    }

    WinogradPairStages s;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::QuantizedWinogradPack, quantized_winograd_2_pack)
HALIDE_REGISTER_GENERATOR(kiln::QuantizedWinogradPack, quantized_winograd_3_pack)
