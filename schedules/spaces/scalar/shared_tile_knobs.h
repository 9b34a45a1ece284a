// The knobs of the schedule template `shared_tile`, for sums of products of small integers on a core without vectors, in code
// that layers of other sizes share. A knob changes the code, so layers share it where all knobs are the same: there are few
// values, and the default is the same for all layers whose channels 8 divides (2 where sums go over channels).
//
// The loop nest of depthwise sums, outermost first; [n] marks an extent that a knob sets, all others are known when it runs:
//   chunks of [channels] / bands of rows / tiles of pixels / channels of the chunk / register tile
// where a tile is [rows] x [pixels] outputs of one channel. What a band reads is copied first, with the padding.
//
// That of sums over channels:
//   rows / tiles of pixels / panels of output channels / rows of the window / taps of a row / register tile
// where a tile is [channels] x [pixels] outputs. What a tile reads is copied once for all panels, with the padding.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct SharedTile {
    T channels{1}, pixels{1};
    T rows{0};   // of a depthwise tile
    T flags{0};  // of the C compiler (schedules/compiler_flags.h)
};

using SharedTileKnobs = SharedTile<int64_t>;
using SharedTileDomains = SharedTile<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, SharedTile<T> &k) {
    visit.needs("channels", k.channels);
    visit.needs("pixels", k.pixels);
    visit.may_lack("rows", k.rows);
    visit.needs("flags", k.flags);
}

}  // namespace kiln
