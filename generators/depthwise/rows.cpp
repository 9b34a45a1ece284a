// Depthwise convolution in vectors of columns, for activations whose rows are contiguous.
//
//   copy(i, x, phase, y, channel, z, n)     = the input at column x * stride + phase - pad, zero outside
//   sum(i, x, row, y_tile, channel, z, n)   = sum over taps (s, r, t) of weights(i, s, r, t, channel) *
//                                             copy(i, x + s * dilation / stride, s * dilation % stride, y * stride + ..., ...)
//   output(c, x, y, z, b, n)                = epilogue(sum)
//
// A vector has several columns of a block of few channels, too: then `channel` counts blocks, and i the channels of one; else i is 0.
//
// The copy makes rows that need no tests, and neighbours of what a stride leaves apart: each tap loads a vector as it lies.
// Rows of a tile of outputs share the rows of the copy that they have in common. With masks there is no copy
// (generators/depthwise/masked_rows.h).
#include <Halide.h>

#include <algorithm>

#include "generators/conv_generator.h"
#include "generators/conv_result.h"
#include "generators/depthwise/masked_rows.h"
#include "generators/shared_rows.h"
#include "generators/turned/turned_tile.h"
#include "rewrites/padded_row.h"
#include "schedules/apply/depthwise/row_tile.h"
#include "schedules/spaces/depthwise/row_tile_space.h"
#include "workload/division.h"

namespace kiln {
namespace {

using namespace Halide;

class DepthwiseRows : public WithResult<ConvGenerator<DepthwiseRows, RowTileKnobs>> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 5>> weights{"weights"};  // channel in vector, s, r, t, block of them

    void configure() {
        read_convolution();
        input.set_type(ConvTypes(workload).operand);
        weights.set_type(ConvTypes(workload).weight);
        add_result_operands();
    }

    void generate() {
        const bool in_rows = stores_columns(loops) || is_in_registers(knobs);
        const bool by_masks =
            knobs.masked || is_in_registers(knobs) || copies_by_masks(loops, vector_lanes(target_of_kiln));
        if (knobs.masked) {
            define_masked_rows(masked_rows());
        } else {
            by_masks ? define_masked_copy(masked_rows()) : copy_rows();
        }
        sums_are_apart = true;
        masks_columns = by_masks && in_rows;
        masks_channels = knobs.masked && !in_rows;
        keeps_addend = adds_twice(knobs, loops, in_rows);
        knobs.unroll_rows ? sum_over_shared_rows() : sum_over_taps();
        const Expr stored = channel_of(loops.stored_result, s.c, s.b), last = extent(loops.output_channels - 1);
        const Expr channel = loops.stored_result.is_filled_up() ? min(stored, last) : stored;
        if (together() > 1) {
            define_result(s, s.sum(s.c, s.x, s.y % rows(), s.y / rows(), s.b, s.z, s.n));
            return;
        }
        if (stores_columns(loops)) {
            define_result(s, s.sum(0, s.x, s.y % rows(), s.y / rows(), channel, s.z, s.n));
            return;
        }
        s.in_rows = Func("in_rows");
        s.in_rows(s.x, s.row, s.y_tile, s.channel, s.z, s.n) = s.sum(0, s.x, s.row, s.y_tile, s.channel, s.z, s.n);
        if (knobs.masked) {
            define_result(s, turned_sum(stored));
        } else {
            define_result(s, s.in_rows(s.x, s.y % rows(), s.y / rows(), channel, s.z, s.n));
        }
    }

    void schedule() {
        fix_activation(input, loops.stored_input);
        fix(weights, {together(), loops.kernel[0], loops.kernel[1], loops.kernel[2],
                      ceil_div(loops.output_channels, together())});
        give_result_to(&s);
        apply_row_tile(s, knobs, loops);
    }

private:
    int rows() const { return extent(knobs.rows); }
    int64_t together() const { return channels_of_vector(loops, knobs); }

    MaskedRows masked_rows() { return {loops, knobs, static_cast<ImageParam>(input).parameter(), s}; }

    // The sum of a stored channel, out of a tile of rows and channels. Channels behind the last repeat it.
    Expr turned_sum(const Expr &stored) {
        const Expr channel = min(s.c_tile * turned_side + loaded_row(s.turned_sums), extent(loops.output_channels - 1));
        const Expr column = s.x_tile * turned_side + loaded_column(s.turned_sums);
        turn_tile(&s.turned_sums, s.in_rows(column, s.y % rows(), s.y / rows(), channel, s.z, s.n),
                  {s.c_tile, s.x_tile, s.y, s.z, s.n});
        return turned(s.turned_sums, stored % turned_side, s.x % turned_side,
                      {stored / turned_side, s.x / turned_side, s.y, s.z, s.n});
    }

    void copy_rows() {
        s.copy = Func("copy");
        s.copy(s.in_block, s.x, s.phase, s.y, s.channel, s.z, s.n) = undef<float>();
        const PaddedRow row = padded_row(loops, computed_columns(loops, knobs));
        for (const PaddedRow::Phase &of : row.phases) {
            copy_columns(of.phase, 0, of.first, false);
            copy_columns(of.phase, of.first, of.end, true);
            copy_columns(of.phase, of.end, row.columns, false);
        }
    }

    // Channels behind the last, of a block that they do not fill, are computed and not stored: any other does for them.
    // Whole vectors, and what is left as one vector of its own size: loads behind the input need no test.
    void copy_columns(int64_t in_phase, int64_t first, int64_t end, bool inside) {
        const int64_t vectors = (end - first) / knobs.lanes, left = (end - first) % knobs.lanes;
        copy_vectors(in_phase, first, vectors * knobs.lanes, knobs.lanes, inside);
        copy_vectors(in_phase, end - left, left, left, inside);
    }

    void copy_vectors(int64_t in_phase, int64_t first, int64_t count, int64_t lanes, bool inside) {
        if (count == 0) return;
        const RDom column(extent(first), extent(count));
        const Expr at = column * extent(loops.stride[0]) + extent(in_phase - loops.pad_lo[0]);
        s.copy(s.in_block, column, extent(in_phase), s.y, s.channel, s.z, s.n) =
            inside ? element(input, loops.stored_input, map_of_copy(), {s.channel, at, s.y, s.z, s.n}) : Expr(0.0f);
        s.copied.push_back({column, extent(lanes)});
    }

    // Columns are inside where they are read. Channels behind the last of a block, and rows behind the last of a tile, are
    // computed and not stored; their input may not exist.
    ElementMap map_of_copy() const {
        ElementMap map = loops.input_map;
        map[input_index::x].outside = Outside::never;
        map[input_index::c].outside = Outside::any;
        if (map[input_index::y].outside == Outside::never) map[input_index::y].outside = Outside::any;
        return map;
    }

    // What kernel column `column` reads for the outputs of a vector, in row y and plane z of the input.
    Expr copied(const Expr &column, const Expr &y, const Expr &z) {
        if (knobs.masked) return masked_tap(masked_rows(), column, y, z);
        const int dilation = extent(loops.dilation[0]), stride = extent(loops.stride[0]);
        return s.copy(s.in_block, s.x + column * dilation / stride, column * dilation % stride, y,
                      s.channel / extent(loops.group_outputs()), z, s.n);
    }

    Expr plane(const Expr &tap) const {
        return s.z * extent(loops.stride[2]) + tap * extent(loops.dilation[2]) - extent(loops.pad_lo[2]);
    }

    Expr weight(const Expr &r) const {
        const int blocks = extent(ceil_div(loops.output_channels, together()));
        return weights(s.in_block, s.tap_column, r, s.tap_plane, min(s.channel, blocks - 1));
    }

    void define_sum(const Expr &product) {
        s.sum(s.in_block, s.x, s.row, s.y_tile, s.channel, s.z, s.n) = 0.0f;
        s.sum(s.in_block, s.x, s.row, s.y_tile, s.channel, s.z, s.n) += product;
    }

    // The order of the reduction is that of the loops, which cannot be changed afterwards: sums are rounded.
    void reduce_over(int tap_rows) {
        const int columns = extent(loops.kernel[0]), planes = extent(loops.kernel[2]);
        const RDom taps =
            knobs.by_columns ? RDom(0, tap_rows, 0, columns, 0, planes) : RDom(0, columns, 0, tap_rows, 0, planes);
        s.tap_row = knobs.by_columns ? taps.x : taps.y;
        s.tap_column = knobs.by_columns ? taps.y : taps.x;
        s.tap_plane = taps.z;
    }

    void sum_over_taps() {
        reduce_over(extent(loops.kernel[1]));
        const Expr y = (s.y_tile * rows() + s.row) * extent(loops.stride[1]) + s.tap_row * extent(loops.dilation[1]) -
                       extent(loops.pad_lo[1]);
        define_sum(weight(s.tap_row) * copied(s.tap_column, y, plane(s.tap_plane)));
    }

    // The taps' rows are those of the copy that the whole tile reads.
    void sum_over_shared_rows() {
        const SharedRows shared(loops, rows());
        reduce_over(shared.taps());
        const Expr y = s.y_tile * shared.step() + s.tap_row - extent(loops.pad_lo[1]);
        const Expr kernel_row = shared.kernel_row(s.tap_row, s.row);
        const Expr product = weight(shared.known(kernel_row)) * copied(s.tap_column, y, plane(s.tap_plane));
        define_sum(shared.where_there(kernel_row, product, 0.0f));
    }

    RowStages s;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DepthwiseRows, depthwise_rows)
