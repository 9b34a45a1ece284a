#include "generators/depthwise/masked_rows.h"

#include "generators/activation.h"
#include "generators/masked_load.h"
#include "generators/turned/turned_tile.h"

namespace kiln {

using namespace Halide;

namespace {

Expr row_element(const MaskedRows &rows, const Exprs &at, const ChannelPlace &channel) {
    return Internal::Call::make(rows.input, {channel.in_block, at[input_index::x], at[input_index::y],
                                             at[input_index::z], channel.block, at[input_index::n]});
}

// The channel that a stage of rows reads; of the output's, some may not exist.
ChannelPlace channel_of_rows(const MaskedRows &rows) {
    const Exprs of_channel{rows.stages.channel, 0, 0, 0, 0};
    return place_of_channel(rows.loops.stored_input, nearest(rows.loops.input_map[input_index::c], of_channel));
}

// Whether a place may be missed: by a tap in the padding, or by outputs that are computed and not stored.
bool may_miss(const MaskedRows &rows, int d) {
    const ConvLoops &s = rows.loops;
    return d == 0 || s.reads_outside(d) || (d == 1 && s.output[1] % rows.knobs.rows != 0);
}

// The element of `planes` at x * stride + shift, which a mask keeps inside.
Expr plane_element(const MaskedRows &rows, const Expr &shift) {
    const RowStages &s = rows.stages;
    const ElementMap &map = rows.loops.input_map;
    const int64_t stride = rows.loops.stride[0], columns = map[input_index::x].extent;
    return s.planes(promised(s.x + shift / extent(stride), (columns + stride - 1) / stride), shift % extent(stride),
                    promised(s.y, map[input_index::y].extent), s.channel, promised(s.z, map[input_index::z].extent),
                    s.n);
}

// Whether a place is one of the same plane, though its column may be another row's: then memory is there.
Expr is_in_plane(const MaskedRows &rows, const Exprs &indices) {
    const ElementMap &map = rows.loops.input_map;
    const auto &[columns, height, depth] = rows.loops.stored_input.space;
    const Expr place =
        value_of(map[input_index::y].form, indices) * extent(columns) + value_of(map[input_index::x].form, indices);
    return 0 <= place && place < extent(columns * height);
}

void define_read(const MaskedRows &rows) {
    RowStages &s = rows.stages;
    const int stride = extent(rows.loops.stride[0]);
    const Expr shift = s.tap * extent(rows.loops.dilation[0]) - extent(rows.loops.pad_lo[0]);
    const bool is_apart = rows.knobs.masked == 2;
    const Exprs indices{s.channel, (is_apart ? Expr(s.column) : s.x * stride) + shift, s.y, s.z, s.n};
    const ElementMap &map = rows.loops.input_map;
    const bool reads_own_columns = stride == 1 && rows.loops.output[0] <= map[input_index::x].extent;
    Exprs at;
    Expr inside;
    for (int i = 0; i < extent(static_cast<int64_t>(map.size())); i++) {
        at.push_back(promised(value_of(map[i].form, indices), map[i].extent));
        const bool is_space = i >= input_index::x && i <= input_index::z;
        if (!is_space || !may_miss(rows, i - input_index::x)) continue;
        Expr is_in = is_in_range(map[i], indices);
        // Columns that are stored read their own row. Others may read what they like, and the load needs no mask: on an Intel CPU
        // one takes the place of a sum.
        if (i == input_index::x && rows.knobs.by_columns && reads_own_columns)
            is_in = is_in || (shift == 0 && is_in_plane(rows, indices));
        inside = inside.defined() ? inside && is_in : is_in;
    }
    const Expr load = s.planes.defined() ? plane_element(rows, shift) : row_element(rows, at, channel_of_rows(rows));
    const Expr value = select(likely(inside), masked_load(likely(inside), load), 0.0f);
    s.read = Func("read");
    if (is_apart) {
        s.dense = Func("dense");
        s.dense(s.in_block, s.column, s.tap, s.y, s.channel, s.z, s.n) = value;
        s.read(s.x, s.tap, s.y, s.channel, s.z, s.n) = s.dense(0, s.x * stride, s.tap, s.y, s.channel, s.z, s.n);
    } else {
        s.read(s.x, s.tap, s.y, s.channel, s.z, s.n) = value;
    }
}

// Where column x of a row of `planes` is stored.
Exprs places_of_column(const MaskedRows &rows, const Expr &x) {
    const RowStages &s = rows.stages;
    Exprs at{Expr(0), x};
    for (const int i : {input_index::y, input_index::z, input_index::n}) {
        at.push_back(value_of(rows.loops.input_map[i].form, {0, x, s.y, s.z, s.n}));
    }
    return at;
}

// The channel of a tile's column, and whether it exists. Tiles may begin at any channel, and reach behind the last.
struct TileChannel {
    ChannelPlace place;
    Expr exists;  // undefined where all do
};

TileChannel channel_of_tile(const MaskedRows &rows) {
    const StoredActivation &stored = rows.loops.stored_input;
    const RowStages &s = rows.stages;
    const Expr in_tile = loaded_column(s.turned_input);
    if (stored.block == stored.channels) {
        const Expr channel = s.c_tile * turned_side + in_tile;
        const bool all = stored.channels % turned_side == 0;
        return {{channel, 0}, all ? Expr() : channel < extent(stored.channels)};
    }
    const int64_t tiles = stored.block / turned_side, blocks = (stored.channels + stored.block - 1) / stored.block;
    const Expr tile = min(s.c_tile, extent(blocks * tiles - 1));
    return {{tile % extent(tiles) * turned_side + in_tile, tile / extent(tiles)}, Expr()};
}

// Tiles of a row's columns: loaded in vectors of channels, stored in vectors of columns. Columns behind the last repeat it.
void define_turned_planes(const MaskedRows &rows) {
    RowStages &s = rows.stages;
    const int last = extent(rows.loops.input_map[input_index::x].extent) - 1, stride = extent(rows.loops.stride[0]);
    const Expr column = (s.x_tile * turned_side + loaded_row(s.turned_input)) * stride + s.phase;
    const TileChannel channel = channel_of_tile(rows);
    const Expr load = row_element(rows, places_of_column(rows, min(column, last)), channel.place);
    turn_tile(&s.turned_input, channel.exists.defined() ? masked_load(channel.exists, load) : load,
              {s.c_tile, s.x_tile, s.phase, s.y, s.z, s.n});
    s.planes(s.x, s.phase, s.y, s.channel, s.z, s.n) =
        turned(s.turned_input, s.x % turned_side, s.channel % turned_side,
               {s.channel / turned_side, s.x / turned_side, s.phase, s.y, s.z, s.n});
}

// Vectors of a row, whose columns are then taken apart. Each phase loads its own: a vector that begins in the middle of another
// would wait for that one to be stored.
void define_planes_of_phases(const MaskedRows &rows) {
    RowStages &s = rows.stages;
    const int last = extent(rows.loops.input_map[input_index::x].extent) - 1, stride = extent(rows.loops.stride[0]);
    const Expr column = s.column + s.phase, inside = promised(column, last + 1);
    const Expr load = row_element(rows, places_of_column(rows, inside), channel_of_rows(rows));
    s.dense = Func("dense");
    s.dense(s.in_block, s.column, s.phase, s.y, s.channel, s.z, s.n) = masked_load(likely(column <= last), load);
    s.planes(s.x, s.phase, s.y, s.channel, s.z, s.n) = s.dense(0, s.x * stride, s.phase, s.y, s.channel, s.z, s.n);
}

}  // namespace

void define_masked_rows(const MaskedRows &rows) {
    if (reads_planes(rows.loops, rows.knobs)) {
        rows.stages.planes = Func("planes");
        rows.loops.stored_input.block == 1 ? define_planes_of_phases(rows) : define_turned_planes(rows);
    }
    define_read(rows);
}

// In memory each phase loads its own vectors: one that begins in the middle of another would wait for that one to be stored. Masks are
// of columns alone, so that they are the same for all rows; rows outside have the zeros of a loop of their own.
void define_masked_copy(const MaskedRows &rows) {
    RowStages &s = rows.stages;
    const ElementMap &map = rows.loops.input_map;
    const Exprs indices{s.channel, s.column + s.phase - extent(rows.loops.pad_lo[0]), s.y, s.z, s.n};
    Exprs at;
    Expr is_in_row = Internal::const_true();
    for (int i = 0; i < extent(static_cast<int64_t>(map.size())); i++) {
        const bool is_outer = i == input_index::y || i == input_index::z;
        if (is_outer && may_miss(rows, i - input_index::x)) {
            is_in_row = is_in_row && is_in_range(map[i], indices);
            at.push_back(clamp(value_of(map[i].form, indices), 0, extent(map[i].extent - 1)));
        } else {
            at.push_back(promised(value_of(map[i].form, indices), map[i].extent));
        }
    }
    const Expr in_columns = is_in_range(map[input_index::x], indices);
    const bool shares = channels_of_vector(rows.loops, rows.knobs) > 1;
    const ChannelPlace channel = shares ? ChannelPlace{s.in_block, s.channel} : channel_of_rows(rows);
    const Expr load = row_element(rows, at, channel);
    const Expr row = select(likely(in_columns), masked_load(likely(in_columns), load), 0.0f);
    s.copy = Func("copy");
    s.dense = Func("dense");
    s.dense(s.in_block, s.column, s.phase, s.y, s.channel, s.z, s.n) = select(likely(is_in_row), row, 0.0f);
    const Expr first = s.x * extent(rows.loops.stride[0]);
    const bool in_registers = is_in_registers(rows.knobs);
    s.copy(s.in_block, s.x, s.phase, s.y, s.channel, s.z, s.n) =
        s.dense(s.in_block, in_registers ? first + s.phase : first, in_registers ? Expr(0) : Expr(s.phase), s.y,
                s.channel, s.z, s.n);
}

Expr masked_tap(const MaskedRows &rows, const Expr &column, const Expr &y, const Expr &z) {
    const RowStages &s = rows.stages;
    return s.read(s.x, column, y, s.channel / extent(rows.loops.group_outputs()), z, s.n);
}

}  // namespace kiln
