#include "rewrites/output_phases.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace kiln {
namespace {

// The first tap that meets no hole at outputs f, f + P, ..., or `kernel` where none does.
int64_t first_tap(const ConvShape &s, int d, int64_t f) {
    for (int64_t k = 0; k < s.kernel[d]; k++) {
        if ((f * s.stride[d] + k * s.dilation[d] - s.pad_lo[d]) % s.hole[d] == 0) return k;
    }
    return s.kernel[d];
}

// What the taps of all phases of one dimension reach, in inputs from that of output 0.
struct Window {
    int64_t first = 0, last = 0, step = 1;
    bool missing = false;  // some phase has fewer taps
    int64_t taps() const { return (last - first) / step + 1; }
};

// Taps of one phase lie `tap_step` apart in the kernel, and so evenly apart in the input. The window has to have all of
// them: its step divides those distances and the distances from phase to phase.
Window window_of_phases(const ConvShape &s, int d, int64_t phases, int64_t origin) {
    const int64_t tap_step = s.hole[d] / std::gcd(s.dilation[d], s.hole[d]);
    Window window{0, 0, tap_step * s.dilation[d] / s.hole[d]};
    bool any = false;
    int64_t fewest = s.kernel[d];
    for (int64_t f = -origin; f < phases - origin; f++) {
        const int64_t k = first_tap(s, d, f);
        fewest = std::min(fewest, k == s.kernel[d] ? 0 : (s.kernel[d] - 1 - k) / tap_step + 1);
        if (k == s.kernel[d]) continue;
        const int64_t more = (s.kernel[d] - 1 - k) / tap_step;
        const int64_t first = (f * s.stride[d] + k * s.dilation[d] - s.pad_lo[d]) / s.hole[d];
        const int64_t last = first + more * (tap_step * s.dilation[d] / s.hole[d]);
        if (any) window.step = std::gcd(window.step, first - window.first);
        window.first = any ? std::min(window.first, first) : first;
        window.last = any ? std::max(window.last, last) : last;
        any = true;
    }
    window.missing = fewest < window.taps();
    return window;
}

int64_t best_origin(const ConvShape &s, int d, int64_t phases) {
    int64_t best = 0;
    for (int64_t o = 1; o < phases; o++) {
        if (window_of_phases(s, d, phases, o).taps() < window_of_phases(s, d, phases, best).taps()) best = o;
    }
    return best;
}

// Puts the taps of the window in place of the kernel's along dimension d. Tap m of phase f is the kernel's tap
//   (m * step * hole + first * hole - f * stride + pad) / dilation
// where that is a whole number of the kernel. `phase` counts f from the origin.
void map_taps(const ConvShape &whole, int d, const Window &window, const Form &phase, int64_t origin, Place *tap) {
    const int64_t hole = whole.hole[d], dilation = whole.dilation[d];
    const int64_t shift = whole.pad_lo[d] + window.first * hole + origin * whole.stride[d];
    const Form reach =
        index_form(kernel_index::s + d) * (window.step * hole) + Form{{}, shift} + phase * -whole.stride[d];
    assert(tap->form.digits.size() == 1 && tap->hole == 1);
    tap->form = reach * tap->form.digits.front().factor + Form{{}, tap->form.constant * dilation};
    tap->hole = dilation;
    tap->outside = Outside::zero;
}

}  // namespace

ConvLoops output_phases(ConvLoops s) {
    const int64_t outputs = s.group_outputs();
    if (!s.has_holes()) return s;
    std::array<Form, 3> kernel_phase;  // of a channel of the result
    for (int d = 0; d < 3; d++) {
        if (s.hole[d] == 1) continue;
        const ConvShape whole = s;
        const int64_t phases = s.hole[d] / std::gcd(s.stride[d], s.hole[d]);
        const int64_t origin = best_origin(whole, d, phases);
        const Window window = window_of_phases(whole, d, phases, origin);
        s.output[d] = (s.output[d] + origin + phases - 1) / phases;
        s.stride[d] = phases * s.stride[d] / s.hole[d];
        s.hole[d] = 1;
        s.dilation[d] = window.step;
        s.kernel[d] = window.taps();
        s.taps_missing |= window.missing;
        s.pad_lo[d] = -window.first;
        s.pad_hi[d] = (s.output[d] - 1) * s.stride[d] + window.last + 1 - s.input[d];

        const int64_t channels = outputs * s.phases;  // from one phase to the next
        const Form phase = digit_of(index_form(kernel_index::co), channels, phases);
        map_taps(whole, d, window, phase, origin, &s.kernel_map[stored_kernel_index::s + d]);
        Form &at = s.result[result_index::x + d];
        s.result[result_index::co] = s.result[result_index::co] + digit_of(at, 1, phases, origin) * channels;
        at = digit_of(at, phases, 0, origin);
        s.outside[d] = s.leaves_input(d);
        Place &input = s.input_map[input_index::x + d];
        input.hole = 1, input.outside = s.outside[d] ? Outside::zero : Outside::never;
        s.phases *= phases;
    }
    s.output_channels *= s.phases;
    for (int i : {stored_kernel_index::co, stored_kernel_index::ci}) {
        if (s.phases == 1) break;
        std::vector<Form> inner;
        for (int j = 0; j <= kernel_index::t; j++) inner.push_back(index_form(j));
        inner[kernel_index::co] = digit_of(index_form(kernel_index::co), 1, outputs);
        s.kernel_map[i].form = put_into(s.kernel_map[i].form, inner);
    }
    return s;
}

}  // namespace kiln
