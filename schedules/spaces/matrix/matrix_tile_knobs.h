// The knobs of the schedule template `matrix_tile`, for products of matrices in tile registers (matrix_steps.h).
//
// The loop nest, outermost first; [n] marks an extent that a knob sets:
//   batch / blocks of rows [block], or of tiles of one row / panels of 16 outputs / tiles of 16 positions / taps / products
// A block's part of the input is copied before, with its padding, if it is not read in place. The sums of a panel are kept for all
// of the block's positions and then stored.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct MatrixTile {
    T block{1};     // rows of outputs, or tiles of one row
    T parallel{0};  // 0: one thread; 1: blocks (and batch) in parallel; 2: panels of outputs
};

using MatrixTileKnobs = MatrixTile<int64_t>;
using MatrixTileDomains = MatrixTile<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, MatrixTile<T> &k) {
    visit.needs("block", k.block);
    visit.may_lack("parallel", k.parallel);
}

}  // namespace kiln
