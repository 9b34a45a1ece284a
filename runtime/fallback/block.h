// The convolution as products of blocks: what one block of the result needs.
//                  rows                    columns            depth
//   forward        places of the output    output channels    taps, input channels
//   input          places of the input     input channels     taps, output channels
//   kernel         taps, input channels    output channels    places of the output
// Rows and depth together name an element of the left operand: places and taps meet in it. Depth and column name one of
// the right operand. Each group is a product of its own; narrow groups share the columns of one product.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/arena.h"
#include "runtime/fallback/convolution_map.h"
#include "runtime/fallback/quantization.h"
#include "runtime/fallback/tile_product.h"

namespace kiln {

constexpr int row_block = 120;  // a multiple of every tile's rows
static_assert(row_block <= depth_block);

// Groups share columns where a group's columns times its channels of the left operand are at most this many. Up to
// there, tiles took longer than going column by column when both were measured.
constexpr int most_shared_channels = 32;
static_assert(most_shared_channels * column_block <= most_tile_rows * depth_block);  // left operands of a row

// The scratch memory of one thread.
struct FallbackScratch {
    alignas(arena_alignment) float left[most_tile_rows * depth_block];
    alignas(arena_alignment) float right[depth_block * column_block];
    alignas(arena_alignment) double sums[row_block * column_block];
    alignas(arena_alignment) double row_sums[most_tile_rows * column_block];
    const float *right_rows[depth_block];
    WalkedPlace places[depth_block];
    TapRun taps[depth_block];
};

// What all blocks share.
struct FallbackProblem {
    const kiln_descriptor &workload;
    ConvolutionMap map;
    const void *left, *right;
    const float *bias, *slope, *factor;
    const void *addend;
    FallbackQuantization quantization;
    void *result;
    TileProduct product;
    bool is_kernel;       // the result is
    bool shares_columns;  // groups do: `columns` are those of all, and there is one product
    int64_t rows, columns, depth;
    int64_t group_columns, left_channels;  // of one group
};

struct FallbackBlock {
    const FallbackProblem &problem;
    FallbackScratch &scratch;
    int64_t group, first_row, first_column;
    int rows, columns;

    const ConvolutionMap &map() const { return problem.map; }
};

// scratch.sums = the block's products, with tiles of registers; or column by column, for groups that share columns.
void multiply_tiles(const FallbackBlock &block);
void multiply_columns(const FallbackBlock &block);

// scratch.right = rows of the right operand, column_block apart: those of scratch.taps, or of scratch.places.
void load_right_taps(const FallbackBlock &block, int runs);
void load_right_places(const FallbackBlock &block, int places);

// Epilogue, conversion and result. Precondition: scratch.places, or scratch.taps for a kernel, are those of the rows.
void store_block(const FallbackBlock &block);

// scratch.sums = 0, then one block of depth after the other: what it meets is listed in scratch.places and
// scratch.taps, scratch.right is loaded, and add_taps(runs of taps of the rows, depth) or, where rows are places,
// add_places(runs of taps of the depth, depth) adds its products.
template<typename AddTaps, typename AddPlaces>
void walk_depth(const FallbackBlock &b, AddTaps add_taps, AddPlaces add_places);

inline int smaller(int64_t a, int b) { return a < b ? static_cast<int>(a) : b; }

template<typename AddTaps, typename AddPlaces>
void walk_depth(const FallbackBlock &b, AddTaps add_taps, AddPlaces add_places) {
    const FallbackProblem &p = b.problem;
    FallbackScratch &scratch = b.scratch;
    const int row_runs = p.is_kernel ? p.map.list_taps(p.left_channels, b.first_row, b.rows, scratch.taps) : 0;
    if (!p.is_kernel) p.map.list_places(b.group, b.first_row, b.rows, scratch.places);
    for (double &sum : scratch.sums) sum = 0;
    for (int64_t first = 0; first < p.depth; first += depth_block) {
        const int depth = smaller(p.depth - first, depth_block);
        if (p.is_kernel) {
            p.map.list_places(b.group, first, depth, scratch.places);
            load_right_places(b, depth);
            add_taps(row_runs, depth);
        } else {
            const int runs = p.map.list_taps(p.left_channels, first, depth, scratch.taps);
            load_right_taps(b, runs);
            add_places(runs, depth);
        }
    }
}

}  // namespace kiln
