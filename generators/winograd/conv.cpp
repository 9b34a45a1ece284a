// Winograd convolution F(m x m, r x r), fused: input transform, batched product, output transform with the epilogue.
//
//   transformed(ci; tile; fy, fx) = bt_y D bt_x^T, D the tile's inputs behind the prologue, padding included
//   copied_rows(ci; x, y)         = the same inputs, where `stage_input` has rows copied first
//   sum(co; tile; fy, fx)         = sum over ci of weights(co; ci; fy, fx) * transformed(ci; tile; fy, fx)
//   output(co; tile)              = epilogue(at_y sum at_x^T)
//   weights(co; ci; fy, fx)       = g_y K g_x^T, by the pack generator
//
// The gradient of the input is the same with the kernel turned around, a dilated convolution the same on the phases of
// its input and one with strides the same on blocks of pixels (unit_strides(), rewrites/fold.h). Where there are phases, `gathered`
// holds the outputs of all of them and the output picks them up.
//
// The matrices are those of catalog/winograd_matrices.h. Weights are packed in exactly the order in which the sum
// reads them. Operands are converted to f32 when loaded, the result to output_dtype when stored.
#include <Halide.h>

#include "generators/turned/turned_tile.h"
#include "generators/winograd/float_products.h"
#include "generators/winograd/winograd_generator.h"
#include "schedules/turned_columns.h"

namespace kiln {
namespace {

using namespace Halide;

class WinogradConv : public FloatProducts<WinogradGenerator, WinogradConv> {
public:
    void define_transformed() {
        const bool copies = this->knobs.stage_input != 0;
        if (copies) define_copied_rows();
        const Expr value = transformed_tile([&](const Expr &ci, const Expr &x, const Expr &y) {
            const Expr copied_x = x + extent(loops.pad_lo[0]);
            return copies ? Expr(s.copied_rows(s.lane, copied_x, y, s.channels, s.z, s.n)) : padded(ci, x, y);
        });
        s.transformed(s.lane, s.tile_x, s.tile_y, s.channels, s.frequency, s.z, s.n) =
            this->knobs.demote == 2 ? cast<bfloat16_t>(value) : value;
    }

    void define_output() {
        define_result(s, transformed_back([](const Expr &product) { return product; }));
    }

private:
    // With zeros around it, also where the last tiles reach behind it.
    ElementMap padded_map() const {
        ElementMap map = loops.input_map;
        map[input_index::x].outside = map[input_index::y].outside = Outside::zero;
        return map;
    }

    // The last vector of channels is filled up.
    Expr known_channel(const Expr &ci) const {
        return facts.summed_channels() != loops.input_channels ? min(ci, extent(loops.input_channels - 1)) : ci;
    }
    Expr zero_behind_channels(const Expr &ci, const Expr &value) const {
        const bool filled = facts.summed_channels() != loops.input_channels;
        return filled ? select(likely(ci < extent(loops.input_channels)), value, 0.0f) : value;
    }

    // padded() of blocks of pixels: those of a row are one stretch of memory, and so is what a vector loads of it.
    Expr of_stretch(const Expr &ci, const Expr &x, const Expr &y, int64_t elements) const {
        const ElementMap map = padded_map();
        const Place &column = map[input_index::x], &row = map[input_index::y];
        const Exprs at{ci, x, y, s.z, s.n}, at_first{0, x, y, s.z, s.n};
        const int channels = extent(loops.stored_input.channels);
        const Expr first = value_of(column.form, at_first) * channels;
        const Expr place = first + ci % extent(elements), width = extent(column.extent) * channels;
        const Expr inside = place >= 0 && place < width && is_inside(row, at);
        const Expr known = promised(place, column.extent * channels);
        const Expr value = input(known % channels, known / channels, nearest(row, at), nearest(map[input_index::z], at),
                                 0, nearest(map[input_index::n], at));
        const Expr read = behind_prologue(ci % channels, cast<float>(masked_load(likely(inside), value)));
        return select(likely(inside), read, 0.0f);
    }

    // The input with zeros around it, in f32.
    Expr padded(const Expr &ci, const Expr &x, const Expr &y) const {
        if (const int64_t elements = facts.side_by_side()) return of_stretch(ci, x, y, elements);
        const Exprs at{known_channel(ci), x, y, s.z, s.n};
        return zero_behind_channels(ci, loaded(input, padded_map(), at, tests_of(this->knobs.partition)));
    }

    // Columns count from the first of the padding.
    void define_copied_rows() {
        const Expr ci = s.channels * extent(facts.channel_step()) + s.lane, x = s.x - extent(loops.pad_lo[0]);
        s.copied_rows(s.lane, s.x, s.y, s.channels, s.z, s.n) =
            facts.turns_input() ? turned_element(ci, x) : padded(ci, x, s.y);
    }

    // padded() of a row whose channels lie apart.
    Expr turned_element(const Expr &ci, const Expr &column) {
        TurnedTile &tile = s.turned_input;
        const int columns = extent(turned_columns(facts.lanes));
        tile.rows = facts.lanes, tile.columns = columns;
        const Var of_row("tile_of_row");
        const Expr x = of_row * columns + loaded_column(tile) - extent(loops.pad_lo[0]);
        const int64_t width = loops.input_map[input_index::x].extent;
        const ElementMap map = padded_map();
        const Exprs indices{known_channel(s.channels * facts.lanes + loaded_row(tile)), x, s.y, s.z, s.n};
        Exprs at;
        for (const Place &place : map) at.push_back(nearest(place, indices));
        const Expr value = input(0, promised(x, width), at[input_index::y], at[input_index::z], at[input_index::c],
                                 at[input_index::n]);
        turn_tile(&tile, masked_load(likely(x >= 0 && x < extent(width)), value), {of_row, s.y, s.channels, s.z, s.n});
        const Expr element = turned(tile, s.lane, s.x % columns, {s.x / columns, s.y, s.channels, s.z, s.n});
        const Expr known = zero_outside(map, {ci, column, s.y, s.z, s.n}, element, Tests::likely);
        return zero_behind_channels(ci, known);
    }
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::WinogradConv, winograd_2)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConv, winograd_3)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConv, winograd_4)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConv, winograd_5)
HALIDE_REGISTER_GENERATOR(kiln::WinogradConv, winograd_6)
