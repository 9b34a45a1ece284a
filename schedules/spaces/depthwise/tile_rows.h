// The rows of the input that a tile of rows of outputs reads: what the templates of depthwise convolutions share.
#pragma once

#include <cstdint>

#include "rewrites/conv_shape.h"

namespace kiln {

// Rows of the input that so many rows of outputs read together, of a window without gaps.
inline int64_t input_rows(const ConvShape &s, int64_t rows) { return (rows - 1) * s.stride[1] + s.kernel[1]; }

// Whether the tile reads each of them once, in an unrolled loop; else each row of outputs reads its own.
template<typename Knobs>
bool shares_input_rows(const ConvShape &s, const Knobs &k) {
    return k.rows > 1 && s.dilation[1] == 1;
}

}  // namespace kiln
