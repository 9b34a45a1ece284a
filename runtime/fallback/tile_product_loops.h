// The loops of runtime/fallback/tile_product.h for one kind of vectors. Included by one file a CPU, each with its own
// flags, so everything here is local to the file.
#pragma once

#include <string.h>

#include "runtime/fallback/tile_product.h"

namespace kiln {
namespace {

// `rows` x `vectors` accumulators stay in registers; each step loads `vectors` and broadcasts `rows`.
template<int rows, int vectors, int width>
void add_panel(const float *left, const float *const *right, int depth, double *sums, int column) {
    typedef float Vector __attribute__((vector_size(width * sizeof(float))));
    Vector accumulators[rows][vectors] = {};
    for (int s = 0; s < depth; s++) {
        Vector row[vectors];
        for (int v = 0; v < vectors; v++) memcpy(&row[v], right[s] + column + v * width, sizeof row[v]);
#pragma GCC unroll 8
        for (int j = 0; j < rows; j++) {
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) accumulators[j][v] += left[j * depth_block + s] * row[v];
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < rows; j++) {
        float products[vectors * width];
        memcpy(products, accumulators[j], sizeof products);
        double *to = sums + j * column_block + column;
        for (int c = 0; c < vectors * width; c++) to[c] += products[c];
    }
}

template<int rows, int width>
void add_tile(const float *left, const float *const *right, int depth, int columns, double *sums) {
    int column = 0;
    for (; column + 2 * width <= columns; column += 2 * width) {
        add_panel<rows, 2, width>(left, right, depth, sums, column);
    }
    if (column < columns) add_panel<rows, 1, width>(left, right, depth, sums, column);
}

template<int rows, int width>
TileProduct tile_product_of() {
    static_assert(rows <= most_tile_rows && column_block % (2 * width) == 0);
    return {rows, width, add_tile<rows, width>};
}

}  // namespace
}  // namespace kiln
