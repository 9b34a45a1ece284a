// The knobs of the schedule template `transform_tile`: operations that turn small tiles of one tensor into tiles or
// places of another (the Winograd transforms), with the arithmetic of a tile unrolled.
//
// The loop nest, outermost first: batch / rows of tiles / tiles of a row / channel blocks / one step: a tile of one
// vector or several.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct TransformTile {
    T lanes{0};           // what the lanes of a vector are. 0: channels; 1: tiles of a row
    T vectors{1};         // vectors of channels in one step
    T stage{0};           // 1: a step's results are collected in a buffer and then stored in the order of memory
    T channels_outer{0};  // 1: the channel blocks are the outermost loop, so that neighbouring tiles follow each other
    T parallel{0};        // 0: one thread; 1: rows of tiles in parallel; 2: channel blocks
};

using TransformTileKnobs = TransformTile<int64_t>;
using TransformTileDomains = TransformTile<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means. All knobs are in all candidates.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, TransformTile<T> &k) {
    visit.needs("lanes", k.lanes);
    visit.needs("vectors", k.vectors);
    visit.needs("stage", k.stage);
    visit.needs("channels_outer", k.channels_outer);
    visit.needs("parallel", k.parallel);
}

}  // namespace kiln
