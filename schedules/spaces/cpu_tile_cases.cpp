#include "schedules/spaces/cpu_tile_cases.h"

#include <algorithm>

namespace kiln {
namespace {

using Sum = TileCase::Sum;
using Block = TileCase::Block;

constexpr TileCase cases[] = {
    {"depthwise, wide window", [](const TileFacts &f, const RegisterTile &) { return passes_by_pixel(f); },
     Sum::written_out, 1, 0, false, Block::one_tile, false,
     "taps are far apart, and pixels of a tile have none in common: one pixel after the other reads each tap's row in "
     "order"},
    {"depthwise, streamed", [](const TileFacts &f, const RegisterTile &) { return streams_depthwise(f); },
     Sum::written_out, 1, 0, false, Block::one_tile, false,
     "as fast as memory: narrow tiles of several rows read few streams at a time, in order, and each row seldom again"},
    {"depthwise", [](const TileFacts &f, const RegisterTile &) { return f.sums_depthwise_rows(); },
     Sum::columns_unrolled, 1, 0, true, Block::one_tile, false,
     "one input channel for each output: nothing to reduce over channels, and the rows of a tile read each row of the "
     "input once for all of them; a channel multiplier is more outputs of the same input"},
    {"depthwise, many taps", [](const TileFacts &f, const RegisterTile &) { return f.sums_depthwise_taps(); },
     Sum::columns_unrolled, 1, 0, false, Block::one_tile, false,
     "windows of one row, or whose rows are apart: written out, so many taps would leave the registers"},
    {"depthwise, dilated", [](const TileFacts &f, const RegisterTile &) { return f.writes_out_sums(); },
     Sum::written_out, 1, 0, false, Block::one_tile, false,
     "rows of a tile have no rows of the input side by side; written out, its outputs share the loads that they have "
     "in "
     "common"},
    {"depthwise, large window", [](const TileFacts &f, const RegisterTile &) { return f.depthwise(); },
     Sum::columns_unrolled, 4, 0, false, Block::one_tile, false,
     "as depthwise, but so many taps written out would leave the instruction cache"},
    {"groups of up to 4 channels",
     [](const TileFacts &f, const RegisterTile &tile) { return shuffles_in_place(f, tile); }, Sum::columns_unrolled, 0,
     3, false, Block::one_tile, false,
     "several groups share a vector, and what its lanes need is shuffled out of one dense load within 128 bits"},
    {"groups that share a vector", [](const TileFacts &f, const RegisterTile &) { return f.spreads(); },
     Sum::columns_unrolled, 1, 2, true, Block::one_tile, false,
     "lanes need different input channels: each is spread over its lanes once and serves all columns and rows of a "
     "tile"},
    {"a group in a vector", [](const TileFacts &f, const RegisterTile &) { return f.holds_groups(); },
     Sum::columns_unrolled, 1, 2, false, Block::one_tile, false,
     "no other vector of the tile needs the same inputs: broadcasts are the bottleneck, and columns share them"},
    {"large groups", [](const TileFacts &f, const RegisterTile &) { return f.shape.groups > 1; }, Sum::columns_unrolled,
     4, 0, false, Block::one_tile, false,
     "as without groups inside of one; its channels are few, so panels take turns on one tile and use whole cache "
     "lines"},
    {"few input channels, NHWC",
     [](const TileFacts &f, const RegisterTile &) { return f.shape.input_channels < f.lanes && f.joins_columns(); },
     Sum::joined_columns, 6, 0, false, Block::l2_cache, true,
     "a loop over 3 channels is all overhead: columns and channels of a kernel row, neighbours in memory, are reduced "
     "jointly, and the padded copy is made of whole vectors"},
    {"dot products", [](const TileFacts &f, const RegisterTile &) { return f.shape.parts > 1; }, Sum::columns_in_turn,
     4, 0, false, Block::l2_cache, false,
     "padding is a zero point, which is multiplied like any other input: no test for it folds away, and columns "
     "unrolled apart "
     "are code for nothing"},
    {"few input channels, NCHW",
     [](const TileFacts &f, const RegisterTile &) {
         return f.shape.input_channels < f.lanes && !f.is_nhwc() && f.shape.kernel[0] > 1;
     },
     Sum::columns_in_turn, 4, 0, false, Block::l2_cache, true,
     "columns of one channel are neighbours, and unrolled, LLVM loads them in vectors and takes these apart again: "
     "columns in turn, from a padded copy, are twice as fast"},
    {"few input channels, apart",
     [](const TileFacts &f, const RegisterTile &) { return f.shape.input_channels < f.lanes; }, Sum::columns_unrolled,
     4, 0, false, Block::l2_cache, false,
     "one column, or columns with gaps: there is nothing to join; a copy would be made in pieces of a vector"},
    {"weights beyond the L2 cache",
     [](const TileFacts &f, const RegisterTile &) { return f.is_nhwc() && f.streams_weights(); }, Sum::columns_in_turn,
     4, 0, false, Block::l2_cache, true,
     "weights come from far away, and the processor's own prefetchers follow them in one loop, not in three beside "
     "each other"},
    {"NCHW", [](const TileFacts &f, const RegisterTile &) { return !f.is_nhwc(); }, Sum::columns_unrolled, 4, 0, false,
     Block::l2_cache, true,
     "inputs are broadcast, so their order matters to caches only: a copy of a block of rows brings its channels "
     "together, with the padding"},
    {"NHWC", [](const TileFacts &, const RegisterTile &) { return true; }, Sum::columns_unrolled, 4, 0, false,
     Block::l2_cache, true,
     "a matrix product for each tap: inputs are broadcast, weights stream in vectors, sums stay in registers; padding "
     "is "
     "copied unless its tests fold away in unrolled tiles"},
};

}  // namespace

std::span<const TileCase> tile_cases() { return cases; }

const TileCase &tile_case(const TileFacts &facts, const RegisterTile &tile) {
    return *std::find_if(std::begin(cases), std::end(cases), [&](const TileCase &c) { return c.applies(facts, tile); });
}

}  // namespace kiln
