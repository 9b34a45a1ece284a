#include "schedules/conv_shape.h"

namespace kiln {
namespace {

bool only_walks(const ConvShape &s, int d) {
    return s.kernel[d] == 1 && s.stride[d] == 1 && s.pad_lo[d] == 0 && s.pad_hi[d] == 0;
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

}  // namespace

bool ConvShape::reads_outside(int d) const {
    const int64_t last = (output[d] - 1) * stride[d] + (kernel[d] - 1) * dilation[d] - pad_lo[d];
    return pad_lo[d] > 0 || last >= input[d];
}

ConvShape conv_shape(const Workload &w) {
    ConvShape s;
    const auto output = output_shape(w);
    s.batch = w.input.front();
    s.groups = w.feature_group_count;
    s.input_channels = w.kernel[w.spatial_rank];
    s.output_channels = w.kernel[w.spatial_rank + 1];
    s.input_block = block_of(w.input_layout, s.all_input_channels());
    s.output_block = block_of(w.output_layout, s.output_channels);
    for (int d = 0; d < w.spatial_rank; d++) {
        const int from = w.spatial_rank - 1 - d;  // the workload's order is outermost first
        s.input[d] = w.input[from + 1];
        s.output[d] = output[from + 1];
        s.kernel[d] = w.kernel[from];
        s.stride[d] = w.strides[from];
        s.dilation[d] = w.rhs_dilation[from];
        s.pad_lo[d] = w.padding[from].lo;
        s.pad_hi[d] = w.padding[from].hi;
    }
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
