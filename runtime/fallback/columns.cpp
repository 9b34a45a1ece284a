// Groups that share columns: depthwise convolutions and others with few channels in a group. Their tiles would be
// mostly empty. Every column has a left operand of its own, so products are taken channel by channel:
//   sums[row][column] += left[group of column][s] * right[s][column]
#include "runtime/fallback/block.h"

namespace kiln {
namespace {

// Channels of the left operand that the columns of a block need, and where those of each column's group begin.
struct LeftChannels {
    explicit LeftChannels(const FallbackBlock &b) {
        const FallbackProblem &p = b.problem;
        const int64_t first_group = b.first_column / p.group_columns;
        first = first_group * p.left_channels;
        for (int c = 0; c < b.columns; c++) {
            begin[c] = static_cast<int>(((b.first_column + c) / p.group_columns - first_group) * p.left_channels);
        }
        count = begin[b.columns - 1] + static_cast<int>(p.left_channels);
        is_plain = p.left_channels == 1 && p.group_columns == 1;
    }

    int64_t first;
    int count;
    int begin[column_block];
    bool is_plain;  // the columns' own channels
};

void add_row(const LeftChannels &channels, const float *left, const float *right, int columns, float *sums) {
    if (channels.is_plain) {
        for (int c = 0; c < columns; c++) sums[c] += left[c] * right[c];
    } else {
        for (int c = 0; c < columns; c++) sums[c] += left[channels.begin[c]] * right[c];
    }
}

void add_sums(const float *from, int columns, double *to) {
    for (int c = 0; c < columns; c++) to[c] += from[c];
}

// Rows are places; sums of one depth block are f32.
void add_places(const FallbackBlock &b, const LeftChannels &channels, int runs) {
    FallbackScratch &scratch = b.scratch;
    for (int row = 0; row < b.rows; row++) {
        float sums[column_block] = {};
        for (int r = 0; r < runs; r++) {
            const TapRun &run = scratch.taps[r];
            const int64_t pixel = b.map().meet(scratch.places[row], run);
            if (pixel < 0) continue;
            load_channels(b.map().met(), b.problem.left, pixel, channels.first, channels.count, scratch.left, 1);
            for (int s = 0; s < run.count; s++) {
                add_row(channels, scratch.left + run.channel + s, scratch.right + (run.first + s) * column_block,
                        b.columns, sums);
            }
        }
        add_sums(sums, b.columns, scratch.sums + row * column_block);
    }
}

// Rows are taps and channels.
void add_taps(const FallbackBlock &b, const LeftChannels &channels, int runs, int places) {
    FallbackScratch &scratch = b.scratch;
    for (int r = 0; r < runs; r++) {
        const TapRun &run = scratch.taps[r];
        float sums[most_shared_channels * column_block];
        for (int i = 0; i < run.count * column_block; i++) sums[i] = 0;
        for (int s = 0; s < places; s++) {
            const int64_t pixel = b.map().meet(scratch.places[s], run);
            if (pixel < 0) continue;
            load_channels(b.map().met(), b.problem.left, pixel, channels.first, channels.count, scratch.left, 1);
            for (int i = 0; i < run.count; i++) {
                add_row(channels, scratch.left + run.channel + i, scratch.right + s * column_block, b.columns,
                        sums + i * column_block);
            }
        }
        for (int i = 0; i < run.count; i++) {
            add_sums(sums + i * column_block, b.columns, scratch.sums + (run.first + i) * column_block);
        }
    }
}

}  // namespace

void multiply_columns(const FallbackBlock &b) {
    const LeftChannels channels(b);
    walk_depth(
        b, [&](int runs, int depth) { add_taps(b, channels, runs, depth); },
        [&](int runs, int) { add_places(b, channels, runs); });
}

}  // namespace kiln
