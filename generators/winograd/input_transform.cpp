// Winograd input transform: B^T D B of every tile D of the padded image; tiles overlap by window - 1.
#include <Halide.h>

#include "generators/winograd/transform_generator.h"

namespace kiln {
namespace {

using namespace Halide;

class WinogradInputTransform : public TransformGenerator<WinogradInputTransform> {
public:
    void generate() {
        const TransformStages &s = stages;
        define_tile([&](const Expr &l, const Expr &k) {
            const Expr y = s.y * extent(sizes.tile[0]) + l - extent(workload.padding[0].lo);
            const Expr x = s.x * extent(sizes.tile[1]) + k - extent(workload.padding[1].lo);
            Expr value = read({s.n, clamped(y, 0), clamped(x, 1), s.c});
            for (const auto &[at, d] : {std::pair{y, 0}, {x, 1}}) {
                const int image = extent(workload.input[d + 1]);
                if (reads_outside(d)) value = select(likely(at >= 0 && at < image), value, 0.0f);
            }
            return value;
        });
        define_output([&](const std::vector<Expr> &at) {
            return s.tile(at[5], at[1], at[0], at[4], at[3], at[2]);  // i, j, n, y, x, c
        });
    }

private:
    bool reads_outside(int d) const {
        const int64_t first = -workload.padding[d].lo;
        const int64_t last = first + (sizes.tiles[d] - 1) * sizes.tile[d] + sizes.transformed[d] - 1;
        return first < 0 || last >= workload.input[d + 1];
    }
    Expr clamped(const Expr &at, int d) const {
        return reads_outside(d) ? clamp(at, 0, extent(workload.input[d + 1]) - 1) : at;
    }
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::WinogradInputTransform, winograd_input_transform)
