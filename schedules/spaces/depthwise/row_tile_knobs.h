// The knobs of the schedule template `row_tile`, for depthwise convolutions whose rows are contiguous in memory: vectors
// are neighbouring columns of one channel.
//
// The loop nest, outermost first; [n] marks an extent that a knob sets:
//   batch / planes / blocks of channels [channel_block] / tiles of rows / channels of the block / tiles of columns /
//   kernel planes, rows of the input, columns of the kernel / register tile
// A register tile is [rows] x [vectors] vectors of outputs of one channel. It reads a padded copy of the rows, whose
// columns lie so that a tap reads neighbours (rewrites/padded_row.h); or the rows as they lie, by loads that leave out what
// is outside of a row.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct RowTile {
    T lanes{1};             // of a vector
    T vectors{1}, rows{1};  // the register tile
    T unroll_rows{0};       // 1: the input's rows of a tile are unrolled, each read once for all rows of outputs
    // The padded copy. 0: of whole planes; 1: of a tile's rows, kept for the next tile; 2: of a row, in registers, from which its
    // taps are shuffled
    T slide{0};
    T channel_block{1};  // channels that are copied before their sums, and stored together
    T parallel{0};       // 0: one thread; 1: blocks of channels (and batch, planes) in parallel
    // 1: rows are read as they lie, with masks; channels that lie side by side are turned into rows, and rows of sums into
    // channels, by tiles in registers. `slide` is then of the turned rows, or of those whose columns a stride takes apart.
    // 2: the same, but columns are taken apart in registers, for each tap anew
    T masked{0};
    // 1: blocks of channels inside of tiles of rows, so that channels that lie side by side meet the caches together
    T by_rows{0};
    // 1: the kernel's columns outside of the input's rows, so that of all weights those of one column stay in registers
    T by_columns{0};
};

using RowTileKnobs = RowTile<int64_t>;
using RowTileDomains = RowTile<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, RowTile<T> &k) {
    visit.needs("lanes", k.lanes);
    visit.needs("vectors", k.vectors);
    visit.needs("rows", k.rows);
    visit.may_lack("unroll_rows", k.unroll_rows);
    visit.may_lack("slide", k.slide);
    visit.needs("channel_block", k.channel_block);
    visit.may_lack("parallel", k.parallel);
    visit.may_lack("masked", k.masked);
    visit.may_lack("by_rows", k.by_rows);
    visit.may_lack("by_columns", k.by_columns);
}

}  // namespace kiln
