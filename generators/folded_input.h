// The input of a convolution with blocks of pixels as channels (schedules/folded_shape.h).
#pragma once

#include <Halide.h>

#include <array>

#include "schedules/folded_shape.h"

namespace kiln {

// Where: channel among the folded ones, x, y, z in blocks, image. Positions outside of the image are zero.
struct FoldedPlace {
    Halide::Expr channel, x, y, z, n;
};

// In f32. `input` takes c in block, x, y, z, block, n of the input as it is stored.
template<typename Input>
Halide::Expr folded_input(const ConvShape &whole, const Blocks &blocks, const Input &input, const FoldedPlace &at) {
    using Halide::Expr;
    const auto extent = [](int64_t e) { return static_cast<int>(e); };
    const int channels = extent(whole.input_channels), in_block = extent(whole.input_block);
    const Expr channel = channels == 1 ? Expr(0) : at.channel % channels;
    Expr pixel = at.channel / channels, inside = Halide::Internal::const_true();
    std::array<Expr, 3> place{at.x, at.y, at.z};
    for (int d = 0; d < 3; d++) {
        if (blocks[d] > 1) {
            place[d] = place[d] * extent(blocks[d]) + pixel % extent(blocks[d]);
            pixel = pixel / extent(blocks[d]);
        }
        inside = inside && place[d] >= 0 && place[d] < extent(whole.input[d]);
        place[d] = Halide::clamp(place[d], 0, extent(whole.input[d]) - 1);
    }
    const bool in_one = in_block == channels;
    const Expr value = input(in_one          ? channel
                             : in_block == 1 ? Expr(0)
                                             : channel % in_block,
                             place[0], place[1], place[2], in_one ? Expr(0) : channel / in_block, at.n);
    return Halide::select(Halide::likely(inside), Halide::cast<float>(value), 0.0f);
}

}  // namespace kiln
