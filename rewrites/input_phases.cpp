#include "rewrites/input_phases.h"

#include <numeric>
#include <vector>

namespace kiln {

ConvLoops input_phases(ConvLoops s) {
    using namespace input_index;
    std::vector<Form> inner;  // the positions of the input in terms of those of a phase
    for (int i = c; i <= n; i++) inner.push_back(index_form(i));
    Form image_of_result;
    for (int d = 0; d < 3; d++) {
        if (s.kernel[d] == 1) s.dilation[d] = 1;
        if (s.dilation[d] == 1) continue;
        const int64_t common = std::gcd(s.stride[d], s.dilation[d]), phases = s.dilation[d] / common;
        const Form phase = digit_of(index_form(n), s.input_phases, phases);
        inner[x + d] = index_form(x + d) * s.dilation[d] + phase * s.stride[d] + Form{{}, -s.pad_lo[d]};
        s.input_map[x + d].outside = Outside::zero;
        s.input_step[d] = s.dilation[d];
        s.outside[d] = true;
        Form &at = s.result[result_index::x + d];
        image_of_result = image_of_result + digit_of(at, 1, phases) * s.input_phases;
        at = digit_of(at, phases);
        s.input_phases *= phases;

        s.output[d] = (s.output[d] + phases - 1) / phases;
        s.stride[d] /= common;
        s.dilation[d] = 1;
        s.pad_lo[d] = s.pad_hi[d] = 0;
        s.input[d] = s.reach(s.output[d], d);
    }
    inner[n] = digit_of(index_form(n), s.input_phases);
    s.input_map = put_into(std::move(s.input_map), inner);
    Form &image = s.result[result_index::n];
    image = image * s.input_phases + image_of_result;
    s.batch *= s.input_phases;
    return s;
}

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
