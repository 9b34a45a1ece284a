// Winograd output transform: A^T M A of every tile M; what the last tiles have beyond the output is not stored.
#include <Halide.h>

#include "generators/winograd/transform_generator.h"

namespace kiln {
namespace {

using namespace Halide;

class WinogradOutputTransform : public TransformGenerator<WinogradOutputTransform> {
public:
    void generate() {
        const TransformStages &s = stages;
        const int channels = extent(workload.input.back());
        const bool filled = workload.output_layout.kind == ActivationLayout::Kind::nchwc &&
                            channels % workload.output_layout.block != 0;  // the last block
        define_tile([&](const Expr &l, const Expr &k) {
            return read({l, k, s.n, s.y, s.x, filled ? min(s.c, channels - 1) : Expr(s.c)});
        });
        const int rows = extent(sizes.tile[0]), columns = extent(sizes.tile[1]);
        define_output([&](const std::vector<Expr> &at) {  // n, y, x, c
            const Expr value = s.tile(at[3], at[2] % columns, at[1] % rows, at[2] / columns, at[1] / rows, at[0]);
            return filled ? select(at[3] < channels, value, 0.0f) : value;
        });
        stages.places = {rows, columns};
    }
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::WinogradOutputTransform, winograd_output_transform)
