// Direct convolution, with groups: the definition, with the output channels in panels of a register tile's width.
//
//   padded(c, x, y, z, n)                  = prologue(the input where the loops' map says), zero outside
//   sum(lane, vector, panel, x, y, z, n)   = sum over (ci, s, r, t) of weights(lane, vector, ci, s, r, t, panel) *
//                                            padded(first(group) + ci, x * sx + s * dx - px, ...)
//   output(c, x, y, z, b, n)               = epilogue(the sum that the loops' result says)
//
// The weights are packed in exactly the order in which the sum reads them, so that a panel streams through the caches.
// Operands are converted when they are loaded, the result when it is stored.
//
// Each algorithm is this on the loops of its rewrite (catalog/conv_rewrites.h): of the output's or the input's phases,
// or of blocks of pixels, which the kernel reads as they are or `prepare` has folded before.
#include <Halide.h>

#include "generators/conv_prologue.h"
#include "generators/conv_result.h"
#include "generators/direct/panel_generator.h"
#include "generators/direct/sum.h"
#include "generators/masked_load.h"
#include "generators/passes/fetched_lines.h"
#include "generators/turned/turned_tile.h"
#include "schedules/apply/cpu_tile.h"

namespace kiln {
namespace {

using namespace Halide;

class DirectConv : public WithPrologue<WithResult<PanelGenerator<DirectConv>>> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 7>> weights{"weights"};  // as PanelForm says

    void configure() {
        read_panels();
        if (knobs.join_columns) loops = joined_columns(loops);
        input.set_type(ConvTypes(workload).operand);
        weights.set_type(ConvTypes(workload).weight);
        add_result_operands();
        add_prologue_operands();
    }

    void generate() {
        const Exprs at{s.c, s.x, s.y, s.z, s.n};
        const Tests tests = loops.folds() ? Tests::together : tests_of(knobs.partition);
        const ElementMap map = map_of_padded();
        if (knobs.turned) {
            define_turned(map);
        } else {
            s.padded(s.c, s.x, s.y, s.z, s.n) = knobs.masked
                                                    ? loaded(MaskedChannels{input, loops.groups}, map, at, tests, true)
                                                    : loaded(input, map, at, tests, reads_filled_up_channels());
        }
        masks_channels = knobs.masked != 0;
        sums_are_apart = !knobs.inline_sum && loops.taps() > 9;  // no fewer gain (docs/measurements/depthwise.md)
        keeps_addend = adds_twice(knobs, loops, target_of_kiln);
        define_result(s, direct_sum({loops, knobs, lanes, weights, s}));
    }

    void schedule() {
        fix_activation(input, loops.stored_input);
        panel_form().fix(weights, loops);
        fix_prologue_operands();
        give_result_to(&s);
        s.input = input;
        apply_cpu_tile(s, knobs, loops, target_of_kiln);
        if (knobs.fetch_result) {
            Pipeline all = this->get_pipeline();
            const int64_t tile = knobs.pixels * loops.stored_channels() * ConvTypes(workload).result.bytes();
            fetch_ahead(all, "output", knobs.fetch_result * tile, Access::written);
        }
    }

private:
    // Tiles begin in the padding, and reach behind the last column and the last channel: such places have any value until zeros
    // take their place in the copy.
    void define_turned(const ElementMap &map) {
        const int first = -extent(loops.pad_lo[0]), inputs = extent(loops.input_channels);
        ElementMap unchecked = map;
        unchecked[input_index::x].outside = Outside::any;
        for (Place &place : unchecked) {
            if (place.outside == Outside::zero) place.outside = Outside::any;
        }
        Var c_tile("c_tile"), x_tile("x_tile");
        const Exprs in_tile{c_tile * copied_side + loaded_column(s.turned_input),
                            x_tile * copied_side + loaded_row(s.turned_input) + first, s.y, s.z, s.n};
        const bool all = inputs % copied_side == 0;
        const Expr value = all ? loaded(input, unchecked, in_tile, Tests::apart)
                               : loaded(MaskedChannels{input, inputs}, unchecked, in_tile, Tests::apart, true);
        turn_tile(&s.turned_input, value, {c_tile, x_tile, s.y, s.z, s.n});
        const Expr element = turned(s.turned_input, s.x % copied_side, s.c % copied_side,
                                    {s.c / copied_side, s.x / copied_side, s.y, s.z, s.n});
        s.padded(s.c, s.x, s.y, s.z, s.n) =
            zero_outside(map, {s.c, s.x + first, s.y, s.z, s.n}, element, Tests::likely);
    }

    // The last vector of depthwise channels may be what fills up a block: the input has something there, and the prologue has nothing.
    bool reads_filled_up_channels() const {
        return loops.groups > 1 && loops.input_channels == 1 && loops.stored_input.is_filled_up();
    }

    // Rows and planes that the sum leaves out need not be zero.
    ElementMap map_of_padded() const {
        ElementMap map = loops.input_map;
        if (loops.folds()) return map;
        Place &row = map[input_index::y], &plane = map[input_index::z];
        if (knobs.skip_rows && row.outside == Outside::zero) row.outside = Outside::any;
        allow_rows_below(&row);
        if (!knobs.inline_sum && plane.outside == Outside::zero) plane.outside = Outside::any;
        return map;
    }

    ConvStages s;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DirectConv, direct)
HALIDE_REGISTER_GENERATOR(kiln::DirectConv, phases)
HALIDE_REGISTER_GENERATOR(kiln::DirectConv, input_phases)
HALIDE_REGISTER_GENERATOR(kiln::DirectConv, space_to_depth_fused)
HALIDE_REGISTER_GENERATOR(kiln::DirectConv, space_to_depth_prepared)
