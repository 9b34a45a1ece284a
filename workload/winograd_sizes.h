// Sizes of the Winograd transforms F(m, r): an image is cut into tiles of m outputs, each of which needs m + r - 1
// inputs; a transformed tensor has m + r - 1 values a tile and dimension.
#pragma once

#include <array>
#include <cstdint>

#include "workload/workload.h"

namespace kiln {

// Vertical, horizontal.
using Extents2 = std::array<int64_t, 2>;

struct WinogradSizes {
    Extents2 window, tile;  // r and m
    Extents2 transformed;   // m + r - 1
    Extents2 tiles{1, 1};   // of the image; the last of a row or column may be ragged
    Extents2 output{1, 1};  // of the convolution that the transforms are of: what the tiles cover
};

// Precondition: a Winograd transform whose window (or kernel), tile, input and padding have their entries.
WinogradSizes winograd_sizes(const Workload &workload);

}  // namespace kiln
