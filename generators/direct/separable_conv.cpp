// A depthwise separable convolution in one kernel: a direct sum of 1x1 over what a depthwise convolution makes of the input, some
// rows of it at a time.
//
//   padded(c, x, y, z, n)                  = prologue(sum over (s, r, t) of depthwise_kernel(c, s, r, t) *
//                                            the input at x * sx + s * dx - px, ..., zero outside)
//   output(c, x, y, z, b, n)               = epilogue(the direct sum over padded: conv.cpp)
//
// The depthwise sum is written out, so that the pixels of a tile share what they load.
#include <Halide.h>

#include "generators/conv_prologue.h"
#include "generators/conv_result.h"
#include "generators/direct/panel_generator.h"
#include "generators/direct/sum.h"
#include "schedules/apply/cpu_tile.h"

namespace kiln {
namespace {

using namespace Halide;

class SeparableConv : public WithPrologue<WithResult<PanelGenerator<SeparableConv>>> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 7>> weights{"weights"};  // as PanelForm says

    void configure() {
        read_panels();
        in_front = depthwise_loops(workload);
        allow_rows_below(&in_front.input_map[input_index::y]);
        input.set_type(ConvTypes(workload).operand);
        weights.set_type(ConvTypes(workload).weight);
        add_result_operands();
        add_prologue_operands();
        depthwise_kernel = add_input<Buffer<>>("depthwise_kernel", ConvTypes(workload).operand, 4);
    }

    void generate() {
        s.padded(s.c, s.x, s.y, s.z, s.n) = behind_prologue(s.c, depthwise_sum());
        keeps_addend = adds_twice(knobs, loops, target_of_kiln);
        define_result(s, direct_sum({loops, knobs, lanes, weights, s}));
    }

    void schedule() {
        fix_activation(input, in_front.stored_input);
        panel_form().fix(weights, loops);
        fix(*depthwise_kernel, {in_front.groups, in_front.kernel[0], in_front.kernel[1], in_front.kernel[2]});
        fix_prologue_operands();
        give_result_to(&s);
        s.input = input;
        apply_cpu_tile(s, knobs, loops, target_of_kiln);
    }

private:
    Expr depthwise_sum() const {
        const auto tap = [&](const Var &out, int64_t of_kernel, int d) {
            return out * extent(in_front.stride[d]) + extent(of_kernel * in_front.dilation[d] - in_front.pad_lo[d]);
        };
        Expr sum = 0.0f;
        for (int t = 0; t < in_front.kernel[2]; t++) {
            for (int r = 0; r < in_front.kernel[1]; r++) {
                for (int k = 0; k < in_front.kernel[0]; k++) {
                    const Exprs at{s.c, tap(s.x, k, 0), tap(s.y, r, 1), tap(s.z, t, 2), s.n};
                    sum += cast<float>((*depthwise_kernel)(s.c, k, r, t)) *
                           element(input, in_front.stored_input, in_front.input_map, at, Tests::likely);
                }
            }
        }
        return sum;
    }

    ConvStages s;
    ConvLoops in_front;
    GeneratorInput<Buffer<>> *depthwise_kernel = nullptr;  // c, s, r, t
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::SeparableConv, separable)
