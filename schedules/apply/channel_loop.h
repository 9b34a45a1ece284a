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

}  // namespace kiln
