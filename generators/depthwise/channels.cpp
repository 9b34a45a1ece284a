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
#include "generators/depthwise/turned_channels.h"
#include "generators/masked_load.h"
#include "schedules/apply/depthwise/channel_tile.h"

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
    }

    void generate() {
        define_copy();
        define_sum();
        const int height = rows();
        if (!is_apart(loops.stored_result)) {
            const Expr stored = channel_of(loops.stored_result, s.c, s.b);
            masks_channels = channels_in_memory(loops.stored_result, lanes) == ChannelsInMemory::together;
            define_result(s, s.sum(stored % lanes, s.x, s.y % height, s.y / height, stored / lanes, s.z, s.n));
            return;
        }
        s.sums = Func("sums");
        s.sums(s.lane, s.x, s.y, s.vector, s.z, s.n) =
            s.sum(s.lane, s.x, s.y % height, s.y / height, s.vector, s.z, s.n);
        const Expr sum = turned_sum();
        // A channel's rows are one.
        loops.stored_result.space[0] *= loops.stored_result.space[1];
        loops.stored_result.space[1] = 1;
        masks_columns = true;
        define_result(s, sum);
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
    int tile_columns() const { return extent(turned_columns(lanes)); }

    // The sum of a stored channel, out of a tile of columns and channels. Columns behind the last repeat it.
    Expr turned_sum() {
        const int columns = tile_columns(), width = extent(loops.output[0]);
        const Expr p = s.turned_sums.place, last = extent(loops.output[0] * loops.output[1] - 1);
        const Expr at = min(likely(s.tile * columns + p / lanes), last);
        turn(&s.turned_sums, {columns, lanes}, s.sums(p % lanes, at % width, at / width, s.vector, s.z, s.n),
             {s.tile, s.vector, s.z, s.n});
        return s.turned_sums.stages.back()(s.b % lanes * columns + s.x % columns, s.x / columns, s.b / lanes, s.z, s.n);
    }

    int first_column() const { return extent(std::max<int64_t>(loops.pad_lo[0], 0)); }

    // Columns of the padding, of the input, and of what vectors of these reach behind it.
    void define_copy() {
        s.copy(s.lane, s.x, s.y, s.vector, s.z, s.n) = undef<float>();
        const int64_t first = first_column(), read = loops.reach(loops.output[0], 0) - loops.pad_lo[0] + first;
        const int64_t inside = std::clamp<int64_t>(read - first, 0, loops.input_map[input_index::x].extent);
        const bool turns = is_apart(loops.stored_input);
        const int64_t in_tile = turns ? tile_columns() : 1, copied = ceil_div(inside, in_tile) * in_tile;
        copy_zeros(0, first);
        if (copied > 0) turns ? copy_turned(copied) : copy_columns(copied);
        copy_zeros(first + copied, read - first - copied);
    }

    void copy_zeros(int64_t from, int64_t count) {
        if (count <= 0) return;
        const RDom column(extent(from), extent(count));
        s.copy(s.lane, column, s.y, s.vector, s.z, s.n) = 0.0f;
        s.copied.push_back({column, extent(count), lanes});
    }

    void copy_columns(int64_t count) {
        const RDom column(0, extent(count));
        s.copy(s.lane, column + first_column(), s.y, s.vector, s.z, s.n) =
            zero_outside_rows(input_at(s.vector * lanes + s.lane, column));
        const bool in_pieces = channels_in_memory(loops.stored_input, lanes) == ChannelsInMemory::in_pieces;
        s.copied.push_back({column, 1, in_pieces ? extent(loops.stored_input.block) : lanes});
    }

    void copy_turned(int64_t count) {
        const int columns = tile_columns();
        const Expr p = s.turned_input.place, column = s.tile * columns + p % columns;
        const int64_t width = loops.input_map[input_index::x].extent;
        Expr value = input_at(s.vector * lanes + p / columns, column);
        if (count > width) value = masked_load(column < extent(width), value);
        turn(&s.turned_input, {lanes, columns}, value, {s.tile, s.y, s.vector, s.z, s.n});
        const RDom at(0, extent(count));
        Expr turned =
            s.turned_input.stages.back()(at % columns * lanes + s.lane, at / columns, s.y, s.vector, s.z, s.n);
        if (count > width) turned = select(likely(at < extent(width)), turned, 0.0f);
        s.copy(s.lane, at + first_column(), s.y, s.vector, s.z, s.n) = zero_outside_rows(turned);
        s.copied.push_back({at, columns, lanes, true});
    }

    // Vectors may reach behind the last channel: what they find there does not count.
    Expr input_at(const Expr &channel, const Expr &column) {
        const StoredActivation &stored = loops.stored_input;
        const bool is_whole = stored.channels % lanes == 0;
        const int last = extent(ceil_div(stored.channels, stored.block) * stored.block - 1);
        const Exprs indices{channel, column, s.y, s.z, s.n};
        Exprs at;
        for (int i = 0; i < extent(static_cast<int64_t>(loops.input_map.size())); i++) {
            const Place &place = loops.input_map[i];
            const Expr index = value_of(place.form, indices);
            const bool may_miss = i > input_index::x && misses_rows(i - input_index::x);
            at.push_back(may_miss ? clamp(likely(index), 0, extent(place.extent - 1)) : promised(index, place.extent));
        }
        if (stored.block == stored.channels) {
            const Expr value = input(promised(channel, stored.channels), at[1], at[2], at[3], 0, at[4]);
            return is_whole ? value : masked_load(channel < extent(stored.channels), value);
        }
        const Expr known = is_whole ? channel : min(channel, last);
        const ChannelPlace place = place_of_channel(stored, known);
        return input(place.in_block, at[1], at[2], at[3], place.block, at[4]);
    }

    // Tiles may reach behind the last row, too.
    bool misses_rows(int d) const {
        return d < 3 && (loops.reads_outside(d) || (d == 1 && loops.output[1] % knobs.rows != 0));
    }

    Expr zero_outside_rows(Expr value) const {
        const Exprs indices{0, s.x, s.y, s.z, s.n};
        for (int d = 1; d < 3; d++) {
            if (!misses_rows(d)) continue;
            value = select(likely(is_in_range(loops.input_map[input_index::x + d], indices)), value, 0.0f);
        }
        return value;
    }

    void define_sum() {
        const bool shares = shares_input_rows(loops, knobs);
        const int kernel_rows = extent(loops.kernel[1]), stride = extent(loops.stride[1]);
        const int tap_rows = shares ? (rows() - 1) * stride + kernel_rows : kernel_rows;
        s.taps = RDom(0, extent(loops.kernel[0]), 0, tap_rows, 0, extent(loops.kernel[2]));
        const RVar column(s.taps[0]), row(s.taps[1]), plane(s.taps[2]);
        const Expr x = s.x * extent(loops.stride[0]) + column * extent(loops.dilation[0]) +
                       (first_column() - extent(loops.pad_lo[0]));
        const Expr y =
            shares ? s.y_tile * (rows() * stride) + row - extent(loops.pad_lo[1])
                   : (s.y_tile * rows() + s.row) * stride + row * extent(loops.dilation[1]) - extent(loops.pad_lo[1]);
        const Expr z = s.z * extent(loops.stride[2]) + plane * extent(loops.dilation[2]) - extent(loops.pad_lo[2]);
        const Expr of_kernel = shares ? Expr(row - s.row * stride) : Expr(row);  // folds where both are unrolled
        const Expr known = shares ? clamp(of_kernel, 0, kernel_rows - 1) : of_kernel;
        const Expr product = weights(s.lane, column, known, plane, s.vector) * s.copy(s.lane, x, y, s.vector, z, s.n);
        s.sum(s.lane, s.x, s.row, s.y_tile, s.vector, s.z, s.n) = 0.0f;
        s.sum(s.lane, s.x, s.row, s.y_tile, s.vector, s.z, s.n) +=
            shares ? select(likely(of_kernel >= 0 && of_kernel < kernel_rows), product, 0.0f) : product;
    }

    ChannelStages s;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DepthwiseTurned, depthwise_turned)
