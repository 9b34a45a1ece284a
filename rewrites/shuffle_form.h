// Data movement between few neighbours on both sides (three channels, the pixels of a block) as tiles that are loaded
// and stored in whole rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rewrites/movement.h"

namespace kiln {

// Tiles lie along the digit `along`; the digits that are further inside on either side are all of a tile. On each side
// a tile is a number of rows, each of `stride` elements for a step of `along`.
struct ShuffleForm {
    int along = -1;  // index of a digit; -1: there is no such form
    int64_t read_rows = 1, read_stride = 1, written_rows = 1, written_stride = 1;
    std::vector<int> small;  // the other digits of a tile, by index

    size_t loops() const;  // over tiles
    // Elements of `along` that one tile has, at least: both sides are whole vectors.
    int64_t smallest_tile(int64_t lanes) const;
    bool is_small(int digit) const;
};
ShuffleForm shuffle_form(const Movement &m);

}  // namespace kiln
