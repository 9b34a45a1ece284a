// The packed weights of Strassen's products: the right operands of strassen.cpp, in the order of the sum.
#include <Halide.h>

#include "generators/winograd/float_products.h"
#include "generators/winograd/strassen_generator.h"
#include "generators/winograd/transform.h"

namespace kiln {
namespace {

using namespace Halide;

// Weights, HWIO or HWOI; channels that fill up are zeros.
class StrassenConvPack : public FloatProductsPack<StrassenGenerator, StrassenConvPack> {
public:
    void define_packed() {
        s.columns(s.lane, s.vector, s.ci, s.panel, s.tap, s.row_frequency, s.block) = weight(s.tap, s.row_frequency);
        const auto quarter = [&](int in, int out) {
            return Expr(s.columns(s.lane, s.vector, s.ci, s.panel, in, out, s.block));
        };
        const Expr b11 = quarter(0, 0), b12 = quarter(0, 1), b21 = quarter(1, 0), b22 = quarter(1, 1);
        const Expr t1 = b12 - b11, t2 = b22 - t1, t3 = b22 - b12, t4 = t2 - b21;
        packed(s.lane, s.vector, s.ci, s.panel, s.frequency, s.block) =
            cast<float>(entry_at(s.frequency, {b11, b21, b22, t4, t1, t2, t3}));
    }

private:
    // Of a half of the input channels and a half of the output channels.
    Expr weight(const Expr &of_inputs, const Expr &of_outputs) const {
        const int inputs = extent(loops.input_channels), outputs = extent(loops.output_channels);
        const Expr in_half = ((s.block * panels + s.panel) * vectors + s.vector) * facts.lanes + s.lane;
        const Expr out = in_half + of_outputs * extent(facts.shape.output_channels);
        const Expr in = s.ci + of_inputs * extent(facts.shape.input_channels);
        const Expr exists = in_half < extent(facts.shape.output_channels) && out < outputs &&
                            s.ci < extent(facts.shape.input_channels) && in < inputs;
        const Exprs indices{0, clamp(out, 0, outputs - 1), clamp(in, 0, inputs - 1), 0, 0, 0};
        return select(likely(exists), stored(indices), Expr(0.0));
    }
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::StrassenConvPack, strassen_pack)
