// Tiles of rows by columns. The depth is walked in blocks of both operands, converted to f32 and gathered side by side.
//
// Where a tap meets padding for some rows of a tile, those rows count as zeros; where it does for all rows, the tap is
// left out. Zero times NaN or Inf would be NaN, so a block of the right operand that has one is multiplied row by row.
#include "runtime/fallback/block.h"

namespace kiln {
namespace {

int64_t first_left_channel(const FallbackBlock &b) { return b.group * b.map().met().group_channels; }

// Fills up the columns with zeros. Answers whether all numbers are finite.
bool finish_right(const FallbackBlock &b, int depth, int padded_columns) {
    uint32_t special = 0;
    for (int s = 0; s < depth; s++) {
        float *row = b.scratch.right + s * column_block;
        for (int c = b.columns; c < padded_columns; c++) row[c] = 0;
        for (int c = 0; c < padded_columns; c++) special |= (row[c] - row[c]) != 0;  // NaN for NaN and Inf
    }
    return special == 0;
}

void fill_zeros(float *to, int count, int step) {
    for (int i = 0; i < count; i++) to[i * step] = 0;
}

// Rows are places. Each function answers the depth that it gathered, and lists its rows of the right operand.
int gather_places(const FallbackBlock &b, int taps, int first, int count) {
    const ConvolutionMap &map = b.map();
    const int tile_rows = b.problem.product.rows;
    int depth = 0;
    for (int r = 0; r < taps; r++) {
        const TapRun &run = b.scratch.taps[r];
        int64_t pixels[most_tile_rows];
        bool any = false;
        for (int j = 0; j < tile_rows; j++) {
            pixels[j] = j < count ? map.meet(b.scratch.places[first + j], run) : -1;
            any = any || pixels[j] >= 0;
        }
        if (!any) continue;
        for (int j = 0; j < tile_rows; j++) {
            float *to = b.scratch.left + j * depth_block + depth;
            if (pixels[j] < 0) {
                fill_zeros(to, run.count, 1);
            } else {
                load_channels(map.met(), b.problem.left, pixels[j], first_left_channel(b) + run.channel, run.count, to,
                              1);
            }
        }
        for (int s = 0; s < run.count; s++) {
            b.scratch.right_rows[depth++] = b.scratch.right + (run.first + s) * column_block;
        }
    }
    return depth;
}

// The runs of taps that contain rows from `first` to `first + count` of the block, cut to these rows.
int cut_taps(const FallbackBlock &b, int taps, int first, int count, TapRun *cut) {
    int listed = 0;
    for (int r = 0; r < taps; r++) {
        TapRun run = b.scratch.taps[r];
        const int begin = run.first > first ? run.first : first;
        const int end = smaller(run.first + run.count, first + count);
        if (begin >= end) continue;
        run.channel += begin - run.first;
        run.first = begin - first;
        run.count = end - begin;
        cut[listed++] = run;
    }
    return listed;
}

// Rows are taps and channels.
int gather_taps(const FallbackBlock &b, int taps, int places, int first, int count) {
    const ConvolutionMap &map = b.map();
    TapRun runs[most_tile_rows];
    const int run_count = cut_taps(b, taps, first, count, runs);
    int depth = 0;
    for (int s = 0; s < places; s++) {
        int64_t pixels[most_tile_rows];
        bool any = false;
        for (int r = 0; r < run_count; r++) {
            pixels[r] = map.meet(b.scratch.places[s], runs[r]);
            any = any || pixels[r] >= 0;
        }
        if (!any) continue;
        float *to = b.scratch.left + depth;
        for (int r = 0; r < run_count; r++) {
            float *row = to + runs[r].first * depth_block;
            if (pixels[r] < 0) {
                fill_zeros(row, runs[r].count, depth_block);
            } else {
                load_channels(map.met(), b.problem.left, pixels[r], first_left_channel(b) + runs[r].channel,
                              runs[r].count, row, depth_block);
            }
        }
        fill_zeros(to + count * depth_block, b.problem.product.rows - count, depth_block);
        b.scratch.right_rows[depth++] = b.scratch.right + s * column_block;
    }
    return depth;
}

// Adds one block of the depth, which `gather(first row, rows)` gathers.
template<typename Gather>
void add_products(const FallbackBlock &b, bool finite, int columns, Gather gather) {
    const TileProduct &product = b.problem.product;
    FallbackScratch &scratch = b.scratch;
    for (int first = 0; first < b.rows; first += product.rows) {
        const int count = smaller(b.rows - first, product.rows);
        double *sums = scratch.sums + first * column_block;
        if (finite) {
            product.add(scratch.left, scratch.right_rows, gather(first, count), columns, sums);
            continue;
        }
        for (int j = 0; j < count; j++) {
            const int depth = gather(first + j, 1);
            for (int c = 0; c < columns; c++) scratch.row_sums[c] = 0;
            product.add(scratch.left, scratch.right_rows, depth, columns, scratch.row_sums);
            for (int c = 0; c < columns; c++) sums[j * column_block + c] += scratch.row_sums[c];
        }
    }
}

}  // namespace

void multiply_tiles(const FallbackBlock &b) {
    const int steps = b.problem.product.column_steps;
    const int columns = (b.columns + steps - 1) / steps * steps;
    walk_depth(
        b,
        [&](int taps, int depth) {
            const bool finite = finish_right(b, depth, columns);
            add_products(b, finite, columns,
                         [&](int row, int count) { return gather_taps(b, taps, depth, row, count); });
        },
        [&](int taps, int depth) {
            const bool finite = finish_right(b, depth, columns);
            add_products(b, finite, columns, [&](int row, int count) { return gather_places(b, taps, row, count); });
        });
}

}  // namespace kiln
