// The knobs of the schedule template `gradient_tile`, for the gradient of a kernel: a sum over all pixels for every tap
// and pair of channels.
//
// The loop nest, outermost first; [n] marks an extent that a knob sets:
//   images / planes / blocks of rows of dy [row_block] / panels / kernel planes, rows / tiles of kernel columns /
//   tiles of channels / rows of the block / pixels of a row / register tile
// The lanes of vectors are output channels or input channels; a panel is [vectors] vectors of them. The register tile
// is a panel by [channels] of the other channels by [columns] of the kernel's columns: its sums stay in registers for a
// block of rows and are then added to the result, in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct GradientTile {
    T across{0};                            // what lanes are. 0: output channels; 1: input channels of a group
    T vectors{1}, channels{1}, columns{1};  // the register tile
    T lanes{1};      // of a vector: all that the target has, or half of them where groups have few channels
    T row_block{1};  // rows of dy, with what they need of x, that all taps and channels pass before the next come
    T parallel{0};   // 0: one thread; 1: panels and kernel rows in parallel
    T partials{0};   // 0: one sum; n: sums over n shares of the images, or of the blocks of rows, added up at the end
};

using GradientTileKnobs = GradientTile<int64_t>;
using GradientTileDomains = GradientTile<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, GradientTile<T> &k) {
    visit.needs("across", k.across);
    visit.needs("vectors", k.vectors);
    visit.needs("channels", k.channels);
    visit.needs("columns", k.columns);
    visit.needs("lanes", k.lanes);
    visit.needs("row_block", k.row_block);
    visit.may_lack("parallel", k.parallel);
    visit.may_lack("partials", k.partials);
}

}  // namespace kiln
