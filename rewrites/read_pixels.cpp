#include "rewrites/read_pixels.h"

#include <vector>

namespace kiln {

ConvLoops read_pixels(ConvLoops s) {
    using namespace input_index;
    std::vector<Form> inner;  // the positions of the input in terms of those that are read
    for (int i = c; i <= n; i++) inner.push_back(index_form(i));
    for (int d = 0; d < 3; d++) {
        if (s.kernel[d] != 1 || s.stride[d] == 1 || s.reads_outside(d) || s.hole[d] != 1) continue;
        inner[x + d] = index_form(x + d) * s.stride[d] + Form{{}, -s.pad_lo[d]};
        s.input_step[d] *= s.stride[d];
        s.stride[d] = 1;
        s.pad_lo[d] = s.pad_hi[d] = 0;
        s.input[d] = s.output[d];
    }
    s.input_map = put_into(std::move(s.input_map), inner);
    return s;
}

}  // namespace kiln
