// Products of a tile of rows with a block of columns: the fallback's inner loop, compiled for several CPUs.
//
//   sums[j][c] += sum over s < depth of left[j][s] * right[s][c]      j < rows, c < columns
//
// with rows of `left` depth_block apart and those of `sums` column_block; a row of `right` lies anywhere. One
// call sums products in f32, and calls are summed in double, so that a sum of millions of terms is as exact as one of
// hundreds.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <cstdint>

namespace kiln {

inline constexpr int depth_block = 256, column_block = 64, most_tile_rows = 8;

struct TileProduct {
    int rows;          // of a tile
    int column_steps;  // `columns` is a multiple of this, and at most column_block
    void (*add)(const float *left, const float *const *right, int depth, int columns, double *sums);
};

// The widest product that a CPU with these features (runtime/cpu_features.h) runs.
TileProduct tile_product(uint64_t features);

// Each is compiled with its own flags, see CMakeLists.txt; only tile_product() calls them.
TileProduct tile_product_avx2();
TileProduct tile_product_avx512();

}  // namespace kiln
