// Depthwise convolution in vectors of channels, for activations that have the channels of a vector apart.
//
//   copy(lane, x, y, vector, z, n)          = the input at column x - first of channel vector * lanes + lane, zero outside
//   sum(lane, x, row, y_tile, vector, z, n) = sum over (s, r, t) of weights(lane, s, r, t, vector) *
//                                             copy(lane, x * stride + s * dilation, ...)
//   output(c, x, y, z, b, n)                = epilogue(sum)
//
// Channels that are apart by one, as in NCHW, are turned in registers, on the way to the copy and from `sums` to the output.
// So columns cost shuffles once for each element, and not for each tap, and short rows fill no vector in part.
#include <Halide.h>

#include <algorithm>

#include "generators/conv_result.h"
#include "generators/depthwise/channel_panel.h"
#include "generators/masked_load.h"
#include "generators/shared_rows.h"
#include "generators/turned/turned_tile.h"
#include "schedules/apply/depthwise/channel_tile.h"
#include "schedules/turned_columns.h"

namespace kiln {
namespace {

using namespace Halide;

class DepthwiseTurned : public WithResult<ChannelPanelGenerator<DepthwiseTurned>> {
public:
    Input<Buffer<void, 6>> input{"input"};      // c in block, x, y, z, block, n
    Input<Buffer<void, 5>> weights{"weights"};  // lane, s, r, t, vector

    void configure() {
        read_channels();
        input.set_type(ConvTypes(workload).operand);
        weights.set_type(ConvTypes(workload).weight);
        add_result_operands();
        if (is_apart(loops.stored_result)) {  // a channel's rows are one
            stored_result.space[0] *= stored_result.space[1];
            stored_result.space[1] = 1;
        }
    }

    void generate() {
        define_copy();
        define_sum();
        const int height = rows();
        if (!is_apart(loops.stored_result)) {
            const Expr stored = channel_of(loops.stored_result, s.c, s.b);
            masks_channels = channels_in_memory(loops.stored_result, lanes) == ChannelsInMemory::together;
            keeps_addend = adds_twice(knobs, loops);
            define_result(s, s.sum(stored % lanes, s.x, s.y % height, s.y / height, known_vector(stored), s.z, s.n));
            return;
        }
        s.sums = Func("sums");
        s.sums(s.lane, s.x, s.y, s.vector, s.z, s.n) =
            s.sum(s.lane, s.x, s.y % height, s.y / height, s.vector, s.z, s.n);
        masks_columns = true;
        define_result(s, turned_sum());
    }

    void schedule() {
        fix_activation(input, loops.stored_input);
        fix(weights, packed_weights());
        give_result_to(&s);
        apply_channel_tile(s, knobs, loops, lanes);
    }

private:
    int rows() const { return extent(knobs.rows); }
    bool is_apart(const StoredActivation &stored) const {
        return channels_in_memory(stored, lanes) == ChannelsInMemory::apart;
    }
    // The vector of a stored channel. Blocks of the result may reach behind the last vector, into channels that none has.
    Expr known_vector(const Expr &stored) const {
        const StoredActivation &result = loops.stored_result;
        const Expr vector = stored / lanes;
        const bool is_known = ceil_div(result.channels, result.block) * result.block <= int64_t(vectors()) * lanes;
        return is_known ? vector : min(vector, vectors() - 1);
    }

    int tile_columns() const { return extent(turned_columns(lanes)); }

    // The sum of a stored channel, out of a tile of columns and channels. Columns behind the last repeat it.
    Expr turned_sum() {
        const int columns = tile_columns(), width = extent(loops.output[0]);
        TurnedTile &tile = s.turned_sums;
        tile.rows = columns, tile.columns = lanes;
        const Expr last = extent(loops.output[0] * loops.output[1] - 1);
        const Expr at = min(likely(s.tile * columns + loaded_row(tile)), last);
        turn_tile(&tile, s.sums(loaded_column(tile), at % width, at / width, s.vector, s.z, s.n),
                  {s.tile, s.vector, s.z, s.n});
        return turned(tile, s.x % columns, s.b % lanes, {s.x / columns, s.b / lanes, s.z, s.n});
    }

    int first_column() const { return extent(std::max<int64_t>(loops.pad_lo[0], 0)); }

    // A range of columns or rows.
    struct Range {
        int64_t from = 0, count = 0;
        int64_t end() const { return from + count; }
    };

    // The rows that are read, also for outputs of tiles that reach behind the last; columns from the copy's first.
    Range read_rows() const {
        return {-loops.pad_lo[1], loops.reach(ceil_div(loops.output[1], knobs.rows) * knobs.rows, 1)};
    }
    Range read_columns() const { return {0, loops.reach(loops.output[0], 0) - loops.pad_lo[0] + first_column()}; }

    // Rows and columns of the padding, those of the input, and what vectors of these reach behind it.
    void define_copy() {
        s.copy(s.lane, s.x, s.y, s.vector, s.z, s.n) = undef<float>();
        const auto stored = [&](int d) { return loops.input_map[input_index::x + d].extent; };
        const Range rows = read_rows(), columns = read_columns();
        const int64_t first = std::clamp<int64_t>(0, rows.from, rows.end()),
                      end = std::clamp<int64_t>(stored(1), first, rows.end());
        const Range inside{first, end - first};
        const int64_t in_tile = is_apart(loops.stored_input) ? tile_columns() : 1;
        const int64_t wanted = std::clamp<int64_t>(columns.count - first_column(), 0, stored(0));
        const int64_t copied = ceil_div(wanted, in_tile) * in_tile, copied_end = first_column() + copied;
        const int64_t all = std::max(columns.count, copied_end);
        copy_zeros({0, all}, {rows.from, inside.from - rows.from});
        copy_zeros({0, first_column()}, inside);
        if (copied > 0 && inside.count > 0) in_tile > 1 ? copy_turned(copied, inside) : copy_columns(copied, inside);
        copy_zeros({copied_end, all - copied_end}, inside);
        copy_zeros({0, all}, {inside.end(), rows.end() - inside.end()});
    }

    static RDom domain(const Range &columns, const Range &rows) {
        return {extent(columns.from), extent(columns.count), extent(rows.from), extent(rows.count)};
    }

    void copy_zeros(const Range &columns, const Range &rows) {
        if (columns.count <= 0 || rows.count <= 0) return;
        const RDom at = domain(columns, rows);
        s.copy(s.lane, at.x, at.y, s.vector, s.z, s.n) = 0.0f;
        s.copied.push_back({at, 1, lanes});
    }

    void copy_columns(int64_t count, const Range &rows) {
        const RDom at = domain({0, count}, rows);
        s.copy(s.lane, at.x + first_column(), at.y, s.vector, s.z, s.n) =
            zero_outside_planes(input_at(s.vector * lanes + s.lane, at.x, at.y));
        const bool in_pieces = channels_in_memory(loops.stored_input, lanes) == ChannelsInMemory::in_pieces;
        s.copied.push_back({at, 1, in_pieces ? extent(loops.stored_input.block) : lanes});
    }

    void copy_turned(int64_t count, const Range &rows) {
        const int columns = tile_columns();
        TurnedTile &tile = s.turned_input;
        tile.rows = lanes, tile.columns = columns;
        const Expr column = s.tile * columns + loaded_column(tile);
        const int64_t width = loops.input_map[input_index::x].extent;
        const bool is_ragged = count > width;
        Expr value = input_at(s.vector * lanes + loaded_row(tile), column, s.y);
        if (is_ragged) value = masked_load(likely(column < extent(width)), value);
        turn_tile(&tile, value, {s.tile, s.y, s.vector, s.z, s.n});
        const RDom at = domain({0, count}, rows);
        Expr element = turned(tile, s.lane, at.x % columns, {at.x / columns, at.y, s.vector, s.z, s.n});
        if (is_ragged) element = select(likely(at.x < extent(width)), element, 0.0f);
        s.copy(s.lane, at.x + first_column(), at.y, s.vector, s.z, s.n) = zero_outside_planes(element);
        s.copied.push_back({at, columns, lanes, true});
    }

    // Vectors may reach behind the last channel: what they find there does not count.
    Expr input_at(const Expr &channel, const Expr &column, const Expr &row) {
        const StoredActivation &stored = loops.stored_input;
        const bool is_whole = stored.channels % lanes == 0;
        const int last = extent(ceil_div(stored.channels, stored.block) * stored.block - 1);
        const Exprs indices{channel, column, row, s.z, s.n};
        Exprs at;
        for (const Place &place : loops.input_map) at.push_back(promised(value_of(place.form, indices), place.extent));
        const Place &plane = loops.input_map[input_index::z];
        if (loops.reads_outside(2))
            at[input_index::z] = clamp(likely(value_of(plane.form, indices)), 0, extent(plane.extent - 1));
        if (stored.block == stored.channels) {
            const Expr value = input(promised(channel, stored.channels), at[1], at[2], at[3], 0, at[4]);
            return is_whole ? value : masked_load(channel < extent(stored.channels), value);
        }
        const Expr known = is_whole ? channel : min(channel, last);
        const ChannelPlace place = place_of_channel(stored, known);
        return input(place.in_block, at[1], at[2], at[3], place.block, at[4]);
    }

    Expr zero_outside_planes(const Expr &value) const {
        if (!loops.reads_outside(2)) return value;
        const Exprs indices{0, s.x, s.y, s.z, s.n};
        return select(likely(is_in_range(loops.input_map[input_index::z], indices)), value, 0.0f);
    }

    void define_sum() {
        const bool shares = shares_input_rows(loops, knobs);
        const SharedRows shared(loops, rows());
        const int tap_rows = shares ? shared.taps() : extent(loops.kernel[1]), stride = extent(loops.stride[1]);
        s.taps = RDom(0, extent(loops.kernel[0]), 0, tap_rows, 0, extent(loops.kernel[2]));
        const RVar column(s.taps[0]), row(s.taps[1]), plane(s.taps[2]);
        const Expr x = s.x * extent(loops.stride[0]) + column * extent(loops.dilation[0]) +
                       (first_column() - extent(loops.pad_lo[0]));
        const Expr y =
            shares ? s.y_tile * shared.step() + row - extent(loops.pad_lo[1])
                   : (s.y_tile * rows() + s.row) * stride + row * extent(loops.dilation[1]) - extent(loops.pad_lo[1]);
        const Expr z = s.z * extent(loops.stride[2]) + plane * extent(loops.dilation[2]) - extent(loops.pad_lo[2]);
        const Expr of_kernel = shares ? shared.kernel_row(row, s.row) : Expr(row);
        const Expr known = shares ? shared.known(of_kernel) : of_kernel;
        const Expr product = weights(s.lane, column, known, plane, s.vector) * s.copy(s.lane, x, y, s.vector, z, s.n);
        s.sum(s.lane, s.x, s.row, s.y_tile, s.vector, s.z, s.n) = 0.0f;
        s.sum(s.lane, s.x, s.row, s.y_tile, s.vector, s.z, s.n) +=
            shares ? shared.where_there(of_kernel, product, 0.0f) : product;
    }

    ChannelStages s;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DepthwiseTurned, depthwise_turned)
