// The knobs of the schedule template `step_tile`, for depthwise convolutions of small integers in steps of columns
// (rewrites/column_steps.h).
//
// The loop nest, outermost first; [n] marks an extent that a knob sets:
//   batch / planes / blocks of rows [row_block] / blocks of channels, if [by_channels] / tiles of rows / tiles of columns /
//   vectors of channels / kernel planes, rows of the input, steps of a row / register tile
// A register tile is [rows] x [pixels] outputs of a vector of channels. The steps of its rows are made before, of all columns
// and of the channels of the loops inside, and kept for the next tile of rows of the block. With [in_tile], it has all vectors of a block of
// channels, and makes steps just before it multiplies them, so that they stay in registers.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct StepTile {
    T share{1};            // outputs that read the same steps
    T pixels{1}, rows{1};  // the register tile
    T block{1};            // vectors of channels whose steps are made together
    T by_channels{0};  // 1: such blocks of channels are outside of tiles of rows, so that steps stay in the L1 cache
    T row_block{0};    // tiles of rows of a block; 0: all
    T parallel{0};     // 0: one thread; 1: blocks of rows (and batch, planes) in parallel
    T in_tile{0};      // 1: steps are made in the register tile
    T partition{0};    // 1: what has no padding is read by code of its own, without tests
    T in_lanes{
        0};  // 1: the register tile has all vectors of a block, and steps are made within 128 bits (step_panel.h)
};

using StepTileKnobs = StepTile<int64_t>;
using StepTileDomains = StepTile<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, StepTile<T> &k) {
    visit.needs("share", k.share);
    visit.needs("pixels", k.pixels);
    visit.needs("rows", k.rows);
    visit.needs("block", k.block);
    visit.may_lack("by_channels", k.by_channels);
    visit.may_lack("row_block", k.row_block);
    visit.may_lack("parallel", k.parallel);
    visit.may_lack("in_tile", k.in_tile);
    visit.may_lack("partition", k.partition);
    visit.may_lack("in_lanes", k.in_lanes);
}

}  // namespace kiln
