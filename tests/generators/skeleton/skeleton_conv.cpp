// An algorithm as small as it can be: the definition, NHWC by HWIO, for f32 without groups, dilation and epilogue.
//
//   output(c, x, y, z, n) = sum over (ci, s, r, t) of kernel(c, ci, s, r, t) * input(ci, x * sx + s - px, ..., n)
#include <Halide.h>

#include "generators/kernel_generator.h"
#include "rewrites/conv_loops.h"
#include "schedules/apply/cpu_tile.h"

namespace kiln {
namespace {

using namespace Halide;

class SkeletonConv : public KernelGenerator<SkeletonConv> {
public:
    Input<Buffer<float, 6>> input{"input"};    // c, x, y, z, block of channels, n
    Input<Buffer<float, 5>> kernel{"kernel"};  // co, ci, s, r, t
    Output<Buffer<float, 6>> output{"output"};

    void configure() {
        read_parameters();
        loops = conv_loops(workload);
    }

    void generate() {
        const auto place = [&](const Expr &at, const Expr &tap, int d) {
            return at * extent(loops.stride[d]) + tap - extent(loops.pad_lo[d]);
        };
        Region image{{0, extent(loops.input_channels)}};
        for (int64_t pixels : loops.input) image.emplace_back(0, extent(pixels));
        const Func padded = BoundaryConditions::constant_exterior(input, 0.0f, image);
        const RDom taps({{0, extent(loops.input_channels)},
                         {0, extent(loops.kernel[0])},
                         {0, extent(loops.kernel[1])},
                         {0, extent(loops.kernel[2])}},
                        "taps");
        const Var &c = stages.c, &x = stages.x, &y = stages.y, &z = stages.z, &b = stages.b, &n = stages.n;
        const Expr of_tap = padded(taps.x, place(x, taps.y, 0), place(y, taps.z, 1), place(z, taps.w, 2), 0, n);
        output(c, x, y, z, b, n) = sum(taps, kernel(c, taps.x, taps.y, taps.z, taps.w) * of_tap, "sum");
    }

    void schedule() {
        fix(input, {loops.input_channels, loops.input[0], loops.input[1], loops.input[2], 1, loops.batch});
        fix(kernel, {loops.output_channels, loops.input_channels, loops.kernel[0], loops.kernel[1], loops.kernel[2]});
        fix(output, {loops.output_channels, loops.output[0], loops.output[1], loops.output[2], 1, loops.batch});
        stages.output = output;
        apply_cpu_tile(stages, *decode_knobs<CpuTileKnobs>(candidate.knobs), loops, target_of_kiln);
    }

private:
    ConvLoops loops;
    ConvStages stages;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::SkeletonConv, skeleton)
