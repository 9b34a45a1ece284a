// The loop over the output channels of a convolution, which templates split into panels.
#pragma once

#include <Halide.h>

#include "rewrites/conv_loops.h"

namespace kiln {

// The loop over all channels c of all blocks b, however memory splits them; over those of one group where each group has
// panels of its own.
inline Halide::Var channel_loop(Halide::Func output, const Halide::Var &c, const Halide::Var &b,
                                const ConvLoops &loops) {
    const bool is_one_block = loops.output_block == loops.output_channels;
    if (is_one_block || loops.group_panels) return c;
    if (loops.output_block == 1) return b;
    Halide::Var channel("channel");
    output.fuse(c, b, channel);
    return channel;
}

// Whether blocks of the output hold several whole panels of `panel` channels. Those are split block by block: of a loop over the
// channels of all blocks, Halide could not tell that a part of a block needs one panel of sums, and would compute all of the block's.
inline bool has_panels_in_blocks(const ConvLoops &loops, int64_t panel) {
    const bool is_in_blocks = loops.output_block > 1 && loops.output_block < loops.output_channels;
    return !loops.group_panels && is_in_blocks && loops.output_block > panel && loops.output_block % panel == 0;
}

// Splits the loop over all channels into `outer` of `inner`, of which there are `width`.
inline void split_channels(Halide::Func output, const Halide::Var &c, const Halide::Var &b, const ConvLoops &loops,
                           const Halide::Var &outer, const Halide::Var &inner, int width, Halide::TailStrategy tail) {
    if (has_panels_in_blocks(loops, width)) {
        output.split(c, outer, inner, width, tail).fuse(outer, b, outer);
    } else {
        output.split(channel_loop(output, c, b, loops), outer, inner, width, tail);
    }
}

// How many channels of a vector memory has side by side: all, or those of a block that fills a part of the vector. One access of
// a vector that meets several blocks would be one for each element.
inline int piece_of_vector(int64_t block, int lanes) {
    const bool is_piece = block > 1 && block < lanes && lanes % block == 0;
    return is_piece ? static_cast<int>(block) : lanes;
}

}  // namespace kiln
