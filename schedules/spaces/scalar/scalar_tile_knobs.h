// The knobs of the schedule template `scalar_tile`, for sums of products of small integers on a core without vectors: what is
// kept in its few registers, and how much code there may be.
//
// The loop nest of depthwise sums, outermost first; [n] marks an extent that a knob sets:
//   chunks of channels [channels] / images / planes / rows / tiles of pixels / channels of the chunk / register tile
// where a tile is [rows] x [pixels] outputs of one channel. Weights and constants of the channel are loaded once a tile.
//
// That of sums over channels:
//   blocks of tiles / panels of output channels / [tiles] of pixels / taps / register tile
// where a tile is [channels] x [pixels] outputs. What a block reads is gathered once for all panels, with the padding. The
// tiles of a block share what a cache holds of a panel.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct ScalarTile {
    T channels{1}, pixels{1};
    T rows{0};  // of a depthwise tile

    // Sums over channels: two pixels share a word, and a product by a weight is one instruction for both.
    T paired{0};

    // Depthwise: where the tests for padding are left out by code of its own for the inside of the image.
    //   0: nowhere; 1: in x; 2: in x and y
    T partition{0};

    T unroll{0};  // steps of the innermost loop over taps that are written out
    T flags{0};   // of the C compiler (schedules/compiler_flags.h)
    T tiles{0};   // of a block of dense sums; 0: one
};

using ScalarTileKnobs = ScalarTile<int64_t>;
using ScalarTileDomains = ScalarTile<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, ScalarTile<T> &k) {
    visit.needs("channels", k.channels);
    visit.needs("pixels", k.pixels);
    visit.may_lack("rows", k.rows);
    visit.may_lack("paired", k.paired);
    visit.may_lack("partition", k.partition);
    visit.may_lack("unroll", k.unroll);
    visit.needs("flags", k.flags);
    visit.may_lack("tiles", k.tiles);
}

}  // namespace kiln
