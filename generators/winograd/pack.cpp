// The packed weights of Winograd convolutions.
//
//   packed(co; ci; fy, fx) = g_y K g_x^T
#include <Halide.h>

#include "generators/activation.h"
#include "generators/winograd/float_products.h"
#include "generators/winograd/transform.h"
#include "generators/winograd/winograd_generator.h"

namespace kiln {
namespace {

using namespace Halide;

// Weights, HWIO or HWOI, transformed and in the order of the sum; channels that fill up are zeros.
class WinogradConvPack : public FloatProductsPack<WinogradGenerator, WinogradConvPack> {
public:
    void define_packed() {
        std::vector<Expr> column, row;
        for (int r = 0; r < along_y.r; r++) column.push_back(weight(r));
        s.columns(s.lane, s.vector, s.ci, s.panel, s.tap, s.row_frequency, s.block) =
            entry_at(s.row_frequency, winograd_transform(along_y.g, column));
        for (int i = 0; i < along_x.r; i++) {
            row.push_back(s.columns(s.lane, s.vector, s.ci, s.panel, i, s.frequency / ax, s.block));
        }
        const Expr value = entry_at(s.frequency % ax, winograd_transform(along_x.g, row));
        packed(s.lane, s.vector, s.ci, s.panel, s.frequency, s.block) = cast(packed.type(), cast<float>(value));
    }

private:
    Expr weight(int r) const {
        const int inputs = extent(loops.input_channels), outputs = extent(loops.output_channels);
        const Expr of_all = (s.block * panels + s.panel) * vectors + s.vector;
        const Expr channel = of_all * facts.lanes + s.lane;
        const int of_group = extent(facts.group_vectors());
        const bool has_groups = loops.groups > 1;
        const Expr group = has_groups ? min(of_all / of_group, extent(loops.groups - 1)) : Expr(0);
        const Expr in_group =
            has_groups ? of_all % of_group * facts.lanes + s.lane : Expr(clamp(channel, 0, outputs - 1));
        const Exprs indices{group, in_group, min(s.ci, inputs - 1), s.tap, r, 0};
        const Expr value = zero_outside(loops.kernel_map, indices, stored(indices), Tests::apart);
        return select(likely(channel < outputs && s.ci < inputs), value, Expr(0.0));
    }
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::WinogradConvPack, winograd_2_pack)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConvPack, winograd_3_pack)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConvPack, winograd_4_pack)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConvPack, winograd_5_pack)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConvPack, winograd_6_pack)
