#include "rewrites/conv_shape.h"

#include <algorithm>
#include <numeric>

namespace kiln {
namespace {

bool only_walks(const ConvShape &s, int d) {
    return s.kernel[d] == 1 && s.stride[d] == 1 && s.hole[d] == 1 && s.pad_lo[d] == 0 && s.pad_hi[d] == 0;
}

int64_t block_of(const ActivationLayout &layout, int64_t channels) {
    switch (layout.kind) {
        case ActivationLayout::Kind::nhwc:
            return channels;
        case ActivationLayout::Kind::nchw:
            return 1;
        case ActivationLayout::Kind::nchwc:
            return layout.block;
    }
    return 1;
}

ConvShape forward_shape(const Workload &w) {
    ConvShape s;
    const auto output = output_shape(w);
    s.groups = w.feature_group_count * w.batch_group_count;
    s.batch_groups = w.batch_group_count;
    s.batch = w.input.front() / w.batch_group_count;
    s.input_channels = w.kernel[w.spatial_rank];
    s.output_channels = w.kernel[w.spatial_rank + 1];
    s.input_block = block_of(w.input_layout, s.stored_input_channels());
    s.output_block = block_of(w.output_layout, s.output_channels);
    for (int d = 0; d < w.spatial_rank; d++) {
        const int from = w.spatial_rank - 1 - d;  // the workload's order is outermost first
        s.input[d] = w.input[from + 1];
        s.output[d] = output[from + 1];
        s.kernel[d] = w.kernel[from];
        s.stride[d] = w.strides[from];
        s.hole[d] = w.lhs_dilation[from];
        s.dilation[d] = w.rhs_dilation[from];
        s.pad_lo[d] = w.padding[from].lo;
        s.pad_hi[d] = w.padding[from].hi;
    }
    return s;
}

ConvShape turned_shape(const Workload &w) {
    const ConvShape forward = forward_shape(w);
    ConvShape s = forward;
    s.turned = true;
    s.input_channels = forward.group_outputs();
    s.output_channels = forward.all_input_channels();
    s.batch_groups = 1, s.result_batch_groups = forward.batch_groups;
    s.input_block = forward.output_block, s.output_block = forward.input_block;
    for (int d = 0; d < w.spatial_rank; d++) {
        s.input[d] = forward.output[d], s.output[d] = forward.input[d];
        s.stride[d] = forward.hole[d], s.hole[d] = forward.stride[d];
        const int64_t window = (s.kernel[d] - 1) * s.dilation[d];
        s.pad_lo[d] = window - forward.pad_lo[d];
        s.pad_hi[d] = (s.output[d] - 1) * s.stride[d] + window + 1 - s.pad_lo[d] - s.dilated(d);
    }
    return s;
}

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

}  // namespace

bool ConvShape::reads_outside(int d) const {
    if (input_phases[d] != InputPhases{}) return true;
    const int64_t last = (output[d] - 1) * stride[d] + (kernel[d] - 1) * dilation[d] - pad_lo[d];
    return pad_lo[d] > 0 || last >= dilated(d) || hole[d] > 1;
}

ConvShape conv_shape(const Workload &w) {
    ConvShape s = w.op == Operation::conv_backprop_input ? turned_shape(w) : forward_shape(w);
    s.converts = w.dtype != DType::f32;
    // Rows and columns are neighbours in every layout; the batch is the planes' and rows' neighbour only in NHWC.
    const bool nhwc = w.input_layout == ActivationLayout{} && w.output_layout == ActivationLayout{};
    if (nhwc && only_walks(s, 2)) {  // planes are images of their own
        s.batch *= s.input[2];
        s.input[2] = s.output[2] = 1;
    }
    if (only_walks(s, 1) && only_walks(s, 0)) {
        s.input[0] *= s.input[1];
        s.output[0] = s.input[0];
        s.input[1] = s.output[1] = 1;
        if (nhwc && s.kernel[2] == 1 && s.input[2] == 1) {
            s.input[0] *= s.batch;
            s.output[0] = s.input[0];
            s.batch = 1;
        }
    } else if (nhwc && only_walks(s, 1) && s.input[2] == 1) {  // rows are images of their own
        s.batch *= s.input[1];
        s.input[1] = s.output[1] = 1;
    }
    s.stored_input = s.input;
    return s;
}

ConvShape phase_shape(ConvShape s) {
    for (int d = 0; d < 3; d++) {
        if (s.hole[d] == 1) continue;
        const int64_t phases = s.hole[d] / std::gcd(s.stride[d], s.hole[d]);
        int64_t origin = 0;
        for (int64_t o = 1; o < phases; o++) {
            if (window_of_phases(s, d, phases, o).taps() < window_of_phases(s, d, phases, origin).taps()) origin = o;
        }
        const Window window = window_of_phases(s, d, phases, origin);
        s.phases[d] = phases, s.phase_origin[d] = origin;
        s.output[d] = (s.output[d] + origin + phases - 1) / phases;
        s.stride[d] = phases * s.stride[d] / s.hole[d];
        s.hole[d] = 1;
        s.dilation[d] = window.step;
        s.kernel[d] = window.taps();
        s.taps_missing |= window.missing;
        s.pad_lo[d] = -window.first;
        s.pad_hi[d] = (s.output[d] - 1) * s.stride[d] + window.last + 1 - s.input[d];
    }
    s.output_channels *= s.all_phases();
    return s;
}

ConvShape input_phase_shape(ConvShape s) {
    for (int d = 0; d < 3; d++) {
        if (s.kernel[d] == 1) s.dilation[d] = 1;
        if (s.dilation[d] == 1) continue;
        const int64_t common = std::gcd(s.stride[d], s.dilation[d]);
        s.input_phases[d] = {s.dilation[d] / common, s.dilation[d], s.stride[d], s.pad_lo[d]};
        s.batch *= s.input_phases[d].count;
        s.output[d] = (s.output[d] + s.input_phases[d].count - 1) / s.input_phases[d].count;
        s.stride[d] /= common;
        s.dilation[d] = 1;
        s.pad_lo[d] = s.pad_hi[d] = 0;
        s.input[d] = s.reach(s.output[d], d);
    }
    return s;
}

bool every_window_meets_input(const ConvShape &s, int d) {
    for (int64_t o = 0; o < s.output[d]; o++) {
        const int64_t first = o * s.stride[d] - s.pad_lo[d];
        // The first tap that is not left of the input.
        const int64_t k = first >= 0 ? 0 : (-first + s.dilation[d] - 1) / s.dilation[d];
        if (k >= s.kernel[d] || first + k * s.dilation[d] >= s.input[d]) return false;
    }
    return true;
}

PhaseTaps phase_taps(const ConvShape &whole, const ConvShape &phased, int d) {
    if (whole.hole[d] == 1) return {1, 0, 0, 1, whole.kernel[d]};
    const int64_t shift = whole.pad_lo[d] - phased.pad_lo[d] * whole.hole[d] + phased.phase_origin[d] * whole.stride[d];
    return {phased.dilation[d] * whole.hole[d], shift, whole.stride[d], whole.dilation[d], whole.kernel[d]};
}

ConvShape gathered_shape(ConvShape s) {
    if (s.scatters()) s.output_block = s.output_channels;
    return s;
}

ConvShape joined_columns(ConvShape s) {
    s.input_channels *= s.kernel[0];
    s.kernel[0] = 1;
    return s;
}

ConvShape panel_shape(ConvShape s, int lanes) {
    const int64_t outputs = s.group_outputs();
    const bool divide = outputs % lanes == 0 || lanes % outputs == 0;
    const bool nhwc = s.output_block == s.output_channels;
    if (s.groups > 1 && s.input_channels > 1 && nhwc && !divide) {
        s.group_panels = true;
        s.output_block = outputs;
    }
    return s;
}

}  // namespace kiln
