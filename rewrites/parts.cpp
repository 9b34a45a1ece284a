#include "rewrites/parts.h"

#include <algorithm>

namespace kiln {

ConvLoops in_parts(ConvLoops s, int64_t parts) {
    s.padding_counts = true;
    if (parts == 1) return s;
    const int64_t channels = s.input_channels, steps = (channels + parts - 1) / parts;
    Place &channel = s.input_map[input_index::c];
    if (steps * parts != channels && channel.outside == Outside::never) channel.outside = Outside::any;
    s.parts = parts;
    if (s.joined) {
        s.image_channels = s.input_block = s.input_channels = steps;
        return s;
    }
    const bool nhwc = s.is_nhwc();
    s.image_channels = s.image_channels / channels * steps;
    s.input_block = nhwc ? s.image_channels : std::max<int64_t>(1, s.input_block / parts);
    s.input_channels = steps;
    return s;
}

}  // namespace kiln
