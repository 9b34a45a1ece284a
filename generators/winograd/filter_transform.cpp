// Winograd filter transform: G K G^T of the window of every pair of channels.
#include <Halide.h>

#include "generators/winograd/transform_generator.h"

namespace kiln {
namespace {

using namespace Halide;

// "Columns" of tiles are the channels that are not neighbours in memory.
class WinogradFilterTransform : public TransformGenerator<WinogradFilterTransform> {
public:
    void generate() {
        const TransformStages &s = stages;
        const bool hwio = workload.kernel_layout == KernelLayout::hwio;
        define_tile([&](const Expr &l, const Expr &k) {
            return hwio ? read({l, k, s.x, s.c}) : read({l, k, s.c, s.x});
        });
        define_output([&](const std::vector<Expr> &at) {  // i, j, ci, co
            return s.tile(at[hwio ? 3 : 2], at[1], at[0], at[hwio ? 2 : 3], 0, 0);
        });
    }
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::WinogradFilterTransform, winograd_filter_transform)
