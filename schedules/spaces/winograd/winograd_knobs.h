// The knobs of the schedule template `winograd`: a batched product of transformed input and weights, block by block of
// tiles.
//
// The loop nest, outermost first; [n] marks an extent that a knob sets:
//   blocks of the batch [images] / planes / blocks of tile rows [block_y] / blocks of tile columns [block_x] /
//     transformed input of the block: tiles / vectors of input channels / columns, then rows of a tile
//     blocks of output channels [panel_block] /
//       products of the block: frequencies / panels / register tiles [tile_images x tiles_y x tiles_x] / input channels [unroll]
//       output transform: tiles / vectors of channels / columns, then rows of a tile, epilogue, guarded stores
// A panel is the output channels of a register tile: [vectors] vectors. A frequency is one of the a x a products of a
// tile. Transformed input and products of a block should stay in the L2 cache together with the weights of a panel.
//
// Strassen's products (catalog/winograd/strassen.h) have the same loops: a frequency is one of seven products, a tile is two pixels of a
// row, and the channels are those of a half.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct Winograd {
    T points{0};                           // the interpolation points, a choice of catalog/winograd_matrices.h
    T vectors{1}, tiles_x{1}, tiles_y{1};  // the register tile; its sums stay in registers for the whole reduction
    T block_x{1}, block_y{1};              // tiles of a block
    // How many images, or phases of a dilation, a block has, and how many the register tile. Where one alone has few tiles, several
    // share a block, which reads each weight once for all of them. 0: one.
    T images{0}, tile_images{0};
    T panel_block{1};  // panels whose products are held at once
    T tile_major{0};   // transformed input. 0: a vector of channels of all tiles together; 1: all channels of a tile
    T stage_rows{0};   // 1: input is transformed for all blocks of a block row at once; 0: for each block
    T unroll{1};       // input channels unrolled in the innermost loop
    T demote{0};       // operands of the product stored as bf16. 0: none; 1: weights; 2: both
    // Kilobytes ahead of the product that its weights are fetched (generators/passes/fetched_lines.h).
    T fetch_weights{0};
    T prefetch{0};   // tiles ahead whose input and output lines are fetched while one is transformed
    T partition{0};  // 1: tiles whose input has no padding are read by code of their own, without tests
    // 1: the rows of a row of blocks are copied first, with their padding, in vectors of channels; these are turned where they lie apart
    T stage_input{0};
    // 1: while register tiles share a panel of weights, they fetch the next one (generators/passes/fetched_parts.h)
    T fetch_panels{0};
    // 0: one thread; 1: block rows (and batch, planes) in parallel; 2: blocks of output channels; 3: blocks of tiles
    T parallel{0};
};

using WinogradKnobs = Winograd<int64_t>;
using WinogradDomains = Winograd<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, Winograd<T> &k) {
    visit.may_lack("points", k.points);
    visit.needs("vectors", k.vectors);
    visit.needs("tiles_x", k.tiles_x);
    visit.needs("tiles_y", k.tiles_y);
    visit.needs("block_x", k.block_x);
    visit.needs("block_y", k.block_y);
    visit.needs("panel_block", k.panel_block);
    visit.needs("tile_major", k.tile_major);
    visit.needs("stage_rows", k.stage_rows);
    visit.needs("unroll", k.unroll);
    visit.may_lack("demote", k.demote);
    visit.may_lack("parallel", k.parallel);
    visit.may_lack("fetch_weights", k.fetch_weights);
    visit.may_lack("prefetch", k.prefetch);
    visit.may_lack("partition", k.partition);
    visit.may_lack("images", k.images);
    visit.may_lack("tile_images", k.tile_images);
    visit.may_lack("stage_input", k.stage_input);
    visit.may_lack("fetch_panels", k.fetch_panels);
}

}  // namespace kiln
