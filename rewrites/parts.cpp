#include "rewrites/parts.h"

#include <algorithm>

namespace kiln {

ConvLoops in_parts(ConvLoops s, int64_t parts) {
    s.padding_counts = true;
    if (parts == 1) return s;
    const int64_t channels = s.input_channels, steps = (channels + parts - 1) / parts;
    if (steps * parts != channels) s.input_map[input_index::c].outside = Outside::any;
    const bool nhwc = s.is_nhwc();
    s.image_channels = s.image_channels / channels * steps;
    s.input_block = nhwc ? s.image_channels : std::max<int64_t>(1, s.input_block / parts);
    s.input_channels = steps;
    s.parts = parts;
    return s;
}

}  // namespace kiln
