// The knobs of the schedule template `cpu_tile`: register tile, blocking, loop order, padding, unrolling, threads.
//
// The loop nest, outermost first; [n] marks an extent that a knob sets:
//   panel groups / batch / planes / row blocks [row_block] / blocks of x tiles [x_block] / panels [panel_block] /
//   rows of a block / x tiles / kernel planes, rows, columns, input channels [unroll] / register tile
// A panel is the output channels of a register tile: [vectors] vectors. One tile is [rows] x [pixels] outputs of a
// panel. row_block and x_block say how many pixels reuse a panel of weights before the next panel comes; panel_block
// how many panels reuse a block of pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct CpuTile {
    // Channels of a vector, where half of the target's lanes fit groups or outputs better.
    //   0: as many as the target has lanes
    //   1: vectors lie along x, of one channel each; `pixels` counts vectors, `vectors` channels
    T lanes{0};

    // The register tile. Its sums stay in registers for the whole reduction.
    T vectors{1}, pixels{1}, rows{1};

    T inline_sum{0};  // 1: the sum is written out in the output's expression (depthwise)

    // Groups that share a vector.
    //   0: each lane loads its input channel where it is multiplied
    //   1: inputs are spread over the lanes once for each step of channels and kernel column
    //   2: once for all columns of a step
    //   3: the same, shuffled out of dense vectors
    T spread{0};

    T share_rows{0};      // 1: the sum runs over the input rows of the tile, each read once for all output rows
    T unroll_rows{0};     // 1: the kernel's rows are unrolled
    T join_columns{0};    // 1: a kernel row's columns and channels are one loop over contiguous floats
    T unroll{1};          // input channels unrolled in the innermost loop
    T unroll_columns{0};  // 1: the kernel's columns too; with unrolled x tiles the tests for padding fold away
    T unroll_tiles{0};    // 1: x tiles of a block unrolled
    T skip_rows{0};       // 1: kernel rows that fall into the padding are not computed; 0: multiplied by zero

    // Padding.
    //   0: tested where the input is read
    //   1: a padded copy a block of rows
    //   2: a padded copy of the whole
    //   3: a block of rows that keeps the rows it shares with the next (one thread)
    //   4: a block of tiles in x, where a layout has the channels of its pixels apart
    // What a depthwise convolution in front makes of the input is such a copy: 1 or 4.
    T stage_input{0};

    // 1: where vectors lie along x and the input has its channels side by side, tiles of the copy are turned in registers; 0: the
    // copy gathers each vector element by element
    T turned{0};

    // 0: one thread; 1: row blocks (and batch, planes) in parallel; 2: panel groups; 3: blocks of pixels, in x too
    T parallel{0};

    // Tiles of a block of pixels, in rows and in x; panels that walk over a block before the next block comes.
    T row_block{1}, x_block{1}, panel_block{1};

    T prefetch{0};  // tiles (depthwise: blocks of tiles in x) ahead whose input is fetched while one tile is computed

    T fetch_result{0};  // tiles ahead whose lines of the result are fetched while one tile is stored

    T masked{0};  // 1: the last vector of depthwise channels is loaded and stored by a mask, 0: channel by channel

    T partition{0};  // 1: tiles whose input has no padding have code of their own, without tests

    // Of a depthwise convolution in front: the pixels that it sums side by side, unrolled. 0: there is none.
    T depthwise_rows{0}, depthwise_pixels{0};

    // How weights come in front of the sum that reads them: so many kilobytes ahead of it (generators/passes/fetched_lines.h), or 1: while
    // the tiles of a block use one panel, each fetches a part of the next (generators/passes/fetched_parts.h). At most one of both.
    T fetch_weights{0}, fetch_panels{0};

    // 1: while the panels use one block of pixels, each step fetches a part of the next, in the same way
    T fetch_blocks{0};

    // How the packed weights of a panel lie. 0: a step's vectors are side by side, and a sum reads one stream of memory. 1: each group of
    // vectors (vectors_of_stream) has its steps behind each other, and a sum reads as many streams.
    T streams{0};
};

using CpuTileKnobs = CpuTile<int64_t>;
using CpuTileDomains = CpuTile<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, CpuTile<T> &k) {
    visit.may_lack("lanes", k.lanes);
    visit.needs("vectors", k.vectors);
    visit.needs("pixels", k.pixels);
    visit.needs("rows", k.rows);
    visit.may_lack("inline_sum", k.inline_sum);
    visit.may_lack("spread", k.spread);
    visit.may_lack("share_rows", k.share_rows);
    visit.may_lack("unroll_rows", k.unroll_rows);
    visit.may_lack("join_columns", k.join_columns);
    visit.needs("unroll", k.unroll);
    visit.may_lack("unroll_columns", k.unroll_columns);
    visit.may_lack("unroll_tiles", k.unroll_tiles);
    visit.may_lack("skip_rows", k.skip_rows);
    visit.may_lack("stage_input", k.stage_input);
    visit.may_lack("parallel", k.parallel);
    visit.needs("row_block", k.row_block);
    visit.needs("x_block", k.x_block);
    visit.needs("panel_block", k.panel_block);
    visit.may_lack("prefetch", k.prefetch);
    visit.may_lack("masked", k.masked);
    visit.may_lack("fetch_weights", k.fetch_weights);
    visit.may_lack("fetch_panels", k.fetch_panels);
    visit.may_lack("partition", k.partition);
    visit.may_lack("depthwise_rows", k.depthwise_rows);
    visit.may_lack("depthwise_pixels", k.depthwise_pixels);
    visit.may_lack("turned", k.turned);
    visit.may_lack("fetch_result", k.fetch_result);
    visit.may_lack("fetch_blocks", k.fetch_blocks);
    visit.may_lack("streams", k.streams);
}

}  // namespace kiln
