#include "rewrites/conv_loops.h"

#include <algorithm>

#include "workload/separable/separable.h"
#include "workload/signature.h"

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
    s.batch = output.front();
    s.input_channels = w.kernel[w.spatial_rank];
    s.output_channels = w.kernel[w.spatial_rank + 1];
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

ConvShape turned_shape(const ConvShape &forward) {
    ConvShape s = forward;
    s.input_channels = forward.group_outputs();
    s.output_channels = forward.all_input_channels();
    for (int d = 0; d < 3; d++) {
        s.input[d] = forward.output[d], s.output[d] = forward.input[d];
        s.stride[d] = forward.hole[d], s.hole[d] = forward.stride[d];
        const int64_t window = (s.kernel[d] - 1) * s.dilation[d];
        s.pad_lo[d] = window - forward.pad_lo[d];
        s.pad_hi[d] = (s.output[d] - 1) * s.stride[d] + window + 1 - s.pad_lo[d] - s.dilated(d);
    }
    return s;
}

// One position, which every output reads.
bool is_single(const ConvShape &s, int d) {
    return s.input[d] == 1 && s.output[d] == 1 && s.kernel[d] == 1 && s.pad_lo[d] == 0;
}

// Images of one column: rows are what columns are elsewhere, and planes are rows. Memory is the same in every layout, and so is that
// of the kernel; tiles of one column would have one vector, or the sums of a few rows.
ConvShape with_columns(ConvShape s) {
    for (int moves = 0; moves < 2; moves++) {
        if (!is_single(s, 0) || (is_single(s, 1) && is_single(s, 2))) return s;
        for (auto *sizes : {&s.input, &s.output, &s.kernel, &s.stride, &s.dilation, &s.hole})
            *sizes = {(*sizes)[1], (*sizes)[2], 1};
        for (auto *pads : {&s.pad_lo, &s.pad_hi}) *pads = {(*pads)[1], (*pads)[2], 0};
    }
    return s;
}

// Whether input and result have one plane: the rows of an image are the next image's neighbours in both.
bool is_flat(const ConvShape &s) { return s.input[2] == 1 && s.output[2] == 1; }

// Dimensions that are only walked over and lie behind each other in memory become one. Rows and columns are neighbours
// in every layout; the batch is the planes' and rows' neighbour only in NHWC.
ConvShape merged_shape(const ConvShape &stated, bool nhwc) {
    ConvShape s = with_columns(stated);
    if (nhwc && only_walks(s, 2)) {  // planes are images of their own
        s.batch *= s.input[2];
        s.input[2] = s.output[2] = 1;
    }
    if (only_walks(s, 1) && only_walks(s, 0)) {
        s.input[0] *= s.input[1];
        s.output[0] = s.input[0];
        s.input[1] = s.output[1] = 1;
        if (nhwc && s.kernel[2] == 1 && is_flat(s)) {
            s.input[0] *= s.batch;
            s.output[0] = s.input[0];
            s.batch = 1;
        }
    } else if (nhwc && only_walks(s, 1) && is_flat(s)) {  // rows are images of their own
        s.batch *= s.input[1];
        s.input[1] = s.output[1] = 1;
    }
    return s;
}

// An activation with the channels of all groups side by side, or those of one group an image.
StoredActivation stored(int64_t all_channels, const ActivationLayout &layout, const std::array<int64_t, 3> &space,
                        const ConvShape &s, bool groups_in_batch) {
    const int64_t images = groups_in_batch ? s.groups : 1, channels = all_channels / images;
    return {channels, block_of(layout, channels), space, s.batch * images};
}

ElementMap plain_input_map(const ConvLoops &s) {
    using namespace input_index;
    ElementMap map{{index_form(c), s.stored_input.channels}};
    for (int d = 0; d < 3; d++) {
        map.push_back({index_form(x + d), s.input[d], s.hole[d], s.outside[d] ? Outside::zero : Outside::never});
    }
    map.push_back({index_form(n), s.stored_input.images});
    if (!s.has_groups_in_batch()) return map;
    map[c].form = digit_of(index_form(c), 1, s.input_channels);
    map[n].form = index_form(n) + digit_of(index_form(c), s.input_channels) * s.batch;
    return map;
}

// The kernel of the forward convolution, or that kernel back to front with its channels exchanged.
ElementMap kernel_map_of(const ConvShape &s, bool turned) {
    using namespace kernel_index;
    const Form grouped = index_form(group) * (turned ? s.input_channels : s.group_outputs());
    const int64_t all_inputs = s.all_input_channels();
    ElementMap map;
    if (turned) {
        map = {{grouped + index_form(ci), all_inputs}, {index_form(co), s.group_outputs()}};
    } else {
        map = {{grouped + index_form(co), s.output_channels}, {index_form(ci), s.input_channels}};
    }
    for (int d = 0; d < 3; d++) {
        const Form tap = index_form(kernel_index::s + d);
        map.push_back({turned ? tap * -1 + Form{{}, s.kernel[d] - 1} : tap, s.kernel[d]});
    }
    return map;
}

std::vector<Form> result_of(const ConvLoops &s) {
    using namespace stored_result_index;
    Form group, co = index_form(c), image = index_form(n);
    if (s.stored_result.channels != s.output_channels) {  // groups of the batch
        group = digit_of(index_form(n), s.batch);
        image = digit_of(index_form(n), 1, s.batch);
    } else if (s.groups > 1) {
        group = digit_of(index_form(c), s.group_outputs());
        co = digit_of(index_form(c), 1, s.group_outputs());
    }
    return {group, co, index_form(x), index_form(y), index_form(z), image};
}

// Whether a step takes more instructions than a comparison, a selection and a multiply-add.
bool is_long(const EpilogueStep &step) {
    using Kind = EpilogueStep::Kind;
    switch (step.kind) {
        case Kind::bias:
        case Kind::add:
        case Kind::relu:
        case Kind::clamp:
        case Kind::leaky_relu:
        case Kind::prelu:
        case Kind::affine:
        case Kind::scale:
            return false;
        case Kind::hard_sigmoid:
        case Kind::hard_swish:
        case Kind::sigmoid:
        case Kind::tanh:
        case Kind::silu:
        case Kind::gelu:
        case Kind::gelu_tanh:
        case Kind::requantize_litert:
        case Kind::requantize_onnx:
            return true;
    }
    return true;
}

}  // namespace

bool ConvLoops::folds() const {
    return input_map[1].form.depends_on(input_index::c) || input_map[2].form.depends_on(input_index::c) ||
           input_map[3].form.depends_on(input_index::c);
}

Place ConvLoops::position(int d) const {
    return folds() ? Place{index_form(input_index::x + d), input[d]} : input_map[input_index::x + d];
}

bool ConvLoops::scatters() const {
    for (int i = 0; i < 4; i++) {  // x, y, z, n
        if (!result[result_index::x + i].is_index(stored_result_index::x + i)) return true;
    }
    return false;
}

ConvLoops conv_loops(const Workload &w, Dimensions dimensions) {
    const bool turned = w.op == Operation::conv_backprop_input, groups_in_batch = w.batch_group_count > 1;
    const bool nhwc = w.input_layout == ActivationLayout{} && w.output_layout == ActivationLayout{};
    const ConvShape forward = forward_shape(w), shape = turned ? turned_shape(forward) : forward;
    ConvLoops s;
    static_cast<ConvShape &>(s) = dimensions == Dimensions::merged ? merged_shape(shape, nhwc) : shape;
    s.stored_input = stored(s.all_input_channels(), turned ? w.output_layout : w.input_layout, s.input, s,
                            groups_in_batch && !turned);
    s.stored_result =
        stored(s.output_channels, turned ? w.input_layout : w.output_layout, s.output, s, groups_in_batch && turned);
    s.image_channels = s.stored_input.channels;
    s.input_block = s.stored_input.block, s.output_block = s.stored_result.block;
    s.converts = w.dtype != DType::f32 || !w.prologue.empty();
    s.computes_results = std::ranges::any_of(w.epilogue, is_long);
    s.adds_tensor = std::ranges::any_of(w.epilogue, [](const EpilogueStep &step) { return is_like_result(step.kind); });
    for (int d = 0; d < 3; d++) s.outside[d] = s.leaves_input(d);
    s.input_map = plain_input_map(s);
    s.kernel_map = kernel_map_of(s, turned);
    s.result = result_of(s);
    for (int i = stored_kernel_index::ci; i <= stored_kernel_index::t; i++) s.gradient.push_back(index_form(i));
    return s;
}

ConvLoops depthwise_loops(const Workload &w) { return conv_loops(depthwise_part(w), Dimensions::as_stated); }

ConvLoops pointwise_loops(const Workload &w) {
    ConvLoops loops = conv_loops(pointwise_part(w), Dimensions::as_stated);
    loops.taps_in_front = elements(w.depthwise);
    return loops;
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

bool every_window_meets_planes(const ConvLoops &s) {
    constexpr int d = 2;
    constexpr int64_t most_looks = 1 << 20;
    if (!s.reads_outside(d) || s.output[d] * s.kernel[d] > most_looks) return true;
    const Place place = s.position(d);
    const auto meets = [&](int64_t output) {
        std::array<int64_t, 5> at{};
        for (int64_t tap = 0; tap < s.kernel[d]; tap++) {
            at[input_index::z] = output * s.stride[d] + tap * s.dilation[d] - s.pad_lo[d];
            const int64_t plane = value_of(place.form, at);
            if (plane >= 0 && plane < place.dilated()) return true;
        }
        return false;
    };
    for (int64_t output = 0; output < s.output[d]; output++) {
        if (!meets(output)) return false;
    }
    return true;
}

}  // namespace kiln
