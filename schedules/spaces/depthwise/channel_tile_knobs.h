// The knobs of the schedule template `channel_tile`, for depthwise convolutions in vectors of channels that memory has apart:
// in NCHW, or in blocks of fewer channels than a vector has.
//
// The loop nest, outermost first; [n] marks an extent that a knob sets:
//   batch / planes / vectors of channels / tiles of rows / tiles of columns / kernel planes, rows of the input, columns of the
//   kernel / register tile
// A register tile is [rows] x [pixels] outputs of a vector of channels. Before its first, a padded copy of the input is made,
// with the channels of the vector side by side. Where the output has each channel on its own, the sums of all tiles are kept
// like that, too, and then turned into rows.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct ChannelTile {
    T pixels{1}, rows{1};  // the register tile
    T parallel{0};         // 0: one thread; 1: vectors of channels (and batch, planes) in parallel
};

using ChannelTileKnobs = ChannelTile<int64_t>;
using ChannelTileDomains = ChannelTile<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, ChannelTile<T> &k) {
    visit.needs("pixels", k.pixels);
    visit.needs("rows", k.rows);
    visit.may_lack("parallel", k.parallel);
}

}  // namespace kiln
