#include "catalog/algorithm_rules.h"

#include <algorithm>

#include "catalog/conv_rewrites.h"
#include "catalog/fold_algorithm.h"
#include "catalog/fold_cost.h"
#include "catalog/matrix/matrix_algorithm.h"
#include "catalog/winograd/quantized_winograd.h"
#include "catalog/winograd/strassen.h"
#include "catalog/winograd/winograd_cost.h"
#include "rewrites/conv_loops.h"
#include "schedules/spaces/cpu_tile_rules.h"
#include "schedules/spaces/depthwise/channel_tile_space.h"
#include "schedules/spaces/depthwise/row_tile_space.h"
#include "workload/division.h"

namespace kiln {
namespace {

bool always(const Workload &, const Target &, const Core &) { return true; }

template<int m>
bool winograd_is_fastest(const Workload &w, const Target &target, const Core &core) {
    return winograd_pays(m, w, target, core);
}

template<int m>
bool quantized_winograd_is_fastest(const Workload &w, const Target &target, const Core &core) {
    return quantized_winograd_pays(m, w, target, core);
}

// Depthwise: windows of many taps share rows of the input then, and those that are wide beside the image lose their taps in the
// padding. Limits are those of races on a Zen 3 with AVX2, of NHWC. On a Zen 2, tiles of one pixel are faster for few taps. Nothing else is
// measured.
bool phases_of_input_pay(const Workload &w, const Target &target, const Core &core) {
    if (w.feature_group_count == 1) return false;
    if (w.kernel[w.spatial_rank] > 1) return true;
    const ConvLoops s = conv_loops(w);
    const int lanes = vector_lanes(target);
    const bool is_measured = lanes == 8 && s.kernel[0] > 1 && s.kernel[1] > 1 && s.kernel[2] == 1 &&
                             s.dilation[1] > 1 &&
                             channels_in_memory(s.stored_input, lanes) == ChannelsInMemory::together &&
                             channels_in_memory(s.stored_result, lanes) == ChannelsInMemory::together;
    const bool is_wide = std::min(s.dilation[0], s.dilation[1]) >= 6 && s.groups >= 128;
    const bool leaves_image = s.output[0] < 3 * s.dilation[0] && s.output[1] < 3 * s.dilation[1];
    const bool stays = activation_bytes(s) <= double(core.l3_bytes) / 4;
    return is_measured && (s.taps() > 9 || (is_wide && (!core.reads_wide_windows || (leaves_image && stays))));
}

bool fold_pays(const Workload &w, const Target &target, const Core &core) { return fold_cost(w, target, core).pays(); }

// Sums of NHWC stored in rows are scattered element by element. Caches hide that of small images.
bool reads_rows(const Workload &w, const Target &target, const Core &core) {
    const ConvLoops s = conv_loops(w);
    if (s.stored_input.block == 1) return true;
    const int lanes = vector_lanes(target);
    if (has_short_blocks(s, lanes)) {
        const bool is_short = s.output[0] <= lanes && s.kernel[0] <= most_summed_columns;
        const bool gains_with_strides = core.shuffles_strided_blocks || (core.sums_by_columns && is_short);
        return core.shuffles_rows && s.kernel[0] > 1 && (s.stride[0] == 1 || (s.kernel[0] > 3 && gains_with_strides));
    }
    const bool is_nhwc = s.stored_input.block == s.stored_input.channels;
    return is_nhwc && s.stored_result.block == 1 && s.stride[0] == 1 && lanes >= 16 && is_beyond_l2(s, core);
}

// NCHW on both sides, in vectors of 8: rows are computed as they lie where they fill vectors and windows are narrow, since turning a
// column costs as much as some taps. Few channels fill vectors in part. Whole planes are copied, so that the largest that was
// measured is a limit. All limits are those of races on a Zen 3.
bool turns_between_rows(const ConvLoops &s, int lanes) {
    if (4 * ceil_div(s.output_channels, lanes) * lanes > 5 * s.output_channels) return false;
    const int64_t columns = s.output[0], reach = (s.kernel[0] - 1) * s.dilation[0] + 1;
    if (columns <= 10) return s.taps() >= 5;
    if (columns <= 40) return s.taps() >= 9 && reach >= 5;
    return s.taps() >= 25 && reach >= 7 && columns <= 200 && s.output[1] <= 200;
}

// Of one channel of the input.
int64_t plane_bytes(const ConvLoops &s) { return 4 * s.stored_input.space[0] * s.stored_input.space[1]; }

// Whether rows whose weights are those of a column of the window at a time take less than turning does: more than half of a vector,
// and for windows beyond 5x5 rows whose vectors are filled by two thirds. By races of 40 layers on an Emerald Rapids.
bool fills_rows(const ConvLoops &s, int lanes) {
    if (s.kernel[0] > most_summed_columns || 2 * s.output[0] <= lanes) return false;
    const int64_t computed = ceil_div(s.output[0], lanes) * lanes;
    return s.kernel[0] <= 5 || s.output[0] <= lanes || 2 * computed <= 3 * s.output[0];
}

// NCHW on both sides, in vectors of 16, without strides: rows leave lanes of their last vector empty, and of many taps weights wait in
// memory; turning costs as much as 12 taps. Fitted to races on a Zen 5. Channels whose planes share sets of the L1 cache push
// each other out of it. Images of few columns gain where their weights are in the caches, and lose where they are not.
bool turns_many_taps(const ConvLoops &s, int lanes, const Core &core) {
    const double taps = double(s.taps()), columns = double(s.output[0]);
    const double computed = double(ceil_div(s.output[0], lanes) * lanes);
    if (!core.shuffles_rows || s.kernel[0] < 3 || s.kernel[1] < 3 || core.shares_l1_sets(plane_bytes(s))) return false;
    if (s.kernel[0] <= 5 && s.output[0] < 8) return false;
    if (core.sums_by_columns && fills_rows(s, lanes)) return false;
    return taps * (computed / columns - 1) + 0.3 * (taps - 9) > 12;
}

// The same with strides, which take columns apart for each tap. By races of nine layers on an Emerald Rapids, and else on a Zen 5.
int64_t most_turned_columns(const ConvLoops &s, int lanes, const Core &core) {
    if (!core.sums_by_columns) return lanes - 1;
    return s.kernel[0] > 5 ? 12 : lanes / 2;
}

// Blocks of half a vector of 16, where tiles of rows could be copied into registers: planes of a vector of channels are, in place of them,
// where a window has more taps than there are registers, and L2 has room for such a plane. Raced on a Zen 5.
bool turns_pieces(const ConvLoops &s, int lanes, const Core &core) {
    if (core.sums_by_columns && s.kernel[0] <= most_summed_columns) return false;
    return s.kernel[0] > 5 && lanes * plane_bytes(s) <= core.l2_bytes;
}

// In vectors of 16, channels are turned within L2 alone. One side alone is turned on its way in cheaper than its sums are on their
// way out; on the way out it pays where taps are few and results as many as inputs. Where both sides are NCHW, rows of results that
// fill a vector are computed as they lie. Blocks of half a vector need no turning: they are copied for full vectors where the products
// of many taps decide, and a stride has not spread these over more copies. Vectors of 8 lanes are turned on their way in wherever the
// image lies, as rows would be stored element by element. No window of one column pays.
bool turns_channels(const Workload &w, const Target &target, const Core &core) {
    const ConvLoops s = conv_loops(w);
    const int lanes = vector_lanes(target);
    if (lanes < 8) return false;
    const auto in = channels_in_memory(s.stored_input, lanes), out = channels_in_memory(s.stored_result, lanes);
    if (lanes < 16) {
        if (in != ChannelsInMemory::apart || s.kernel[0] == 1) return false;
        return out == ChannelsInMemory::together || (out == ChannelsInMemory::apart && turns_between_rows(s, lanes));
    }
    const bool has_columns = s.kernel[0] > 3 && s.kernel[1] > 3;
    if (in == ChannelsInMemory::in_pieces && s.stored_input.block == s.stored_result.block)
        return 2 * s.stored_input.block == lanes && has_columns && s.stride[0] == 1 && !core.half_vectors_as_fast &&
               (!core.shuffles_rows || turns_pieces(s, lanes, core));
    if (is_beyond_l2(s, core)) return false;
    if (in == ChannelsInMemory::apart && out == ChannelsInMemory::together) return s.kernel[0] > 1;
    if (in == ChannelsInMemory::together && out == ChannelsInMemory::apart)
        return s.kernel[0] > 1 && !has_columns && s.stride[0] == 1;
    if (in != ChannelsInMemory::apart || out != ChannelsInMemory::apart) return false;
    if (s.stride[0] == 1) return turns_many_taps(s, lanes, core);
    return (has_columns && s.output[0] <= most_turned_columns(s, lanes, core)) || s.output[0] * 4 <= lanes;
}

// What is gathered for a pixel serves all outputs of its channel.
bool has_many_outputs_a_channel(const Workload &w, const Target &, const Core &) {
    return conv_loops(w).group_outputs() > 16;
}

constexpr AlgorithmRule rules[] = {
    {"phases", always, "the input has holes: the output's phases multiply none of their zeros"},
    {"matrix", matrix_pays,
     "tile registers, and products of 16 positions by 16 outputs are estimated to take fewer cycles than vectors"},
    {"winograd_4", winograd_is_fastest<4>,
     "8 input and 16 output channels or more: for 3x3 36 products for 144, at errors within the default budget; other "
     "windows, and strides with blocks of pixels as channels, where an estimate has fewer cycles"},
    {"winograd_3", winograd_is_fastest<3>,
     "as winograd_4, with 25 products for 81: tiles that fill better, have fewer weights or smaller errors"},
    {"winograd_2", winograd_is_fastest<2>,
     "as winograd_4, with 16 products for 36: tiles that fill better, have fewer weights or smaller errors"},
    {"winograd_5", winograd_is_fastest<5>,
     "as winograd_4, with 49 products for 225: tiles that fill better, as in 14x14, or short vectors and many "
     "channels"},
    {"input_phases", phases_of_input_pay,
     "groups with dilation: without it, the rows of a tile share inputs that were spread over lanes; with AVX2 "
     "depthwise ones of many taps or wide windows, too"},
    {fold_fused, fold_pays, "blocks of pixels as channels are estimated to take fewer cycles, their fold included"},
    {"depthwise_turned", turns_channels,
     "depthwise, and one side or both have their channels apart, or in blocks of half a vector: bringing the channels "
     "together once for all taps takes less than computing them as they lie"},
    {"depthwise_rows", reads_rows,
     "depthwise, and the input has contiguous rows, or both activations have blocks of fewer channels than a vector: "
     "vectors of channels would be gathered or half empty, vectors of columns are loaded as they lie; or the output is "
     "in rows, and large images would be stored element by element"},
    {"separable", always, "the only way to a depthwise convolution and one of 1x1 behind it"},
    {"strassen", strassen_pays,
     "one tap, channels side by side, and seven products of halves are estimated to take fewer cycles than eight, on a "
     "CPU where this was measured"},
    {"direct", always, "the definition needs no transforms, and its sums are the most accurate"},
    {"scalar_dense", has_many_outputs_a_channel,
     "many outputs of each channel, on a core without vectors: what a pixel reads is gathered once for all of them"},
    {"scalar_depthwise", always, "a core without vectors: weights of a channel stay in registers for a tile of pixels"},
    {"scalar_dense", always,
     "a core without vectors: two pixels share a word, where a product is one instruction for both"},
    {"quantized_depthwise", always,
     "depthwise: a lane has one channel, and its columns fill the units that multiply several numbers a lane"},
    {"quantized_winograd_3", quantized_winograd_is_fastest<3>,
     "products of pairs of i16, as direct sums have without VNNI: for 3x3 25 of them for 81, where few channels keep "
     "sums exact; on a Zen 4 and a Zen 5 beside VNNI's fours, too"},
    {"quantized_winograd_2", quantized_winograd_is_fastest<2>,
     "as quantized_winograd_3, with 16 products for 36: more channels, tiles that fill better, or fewer weights"},
    {"quantized", always, "the definition, several input channels a lane"},
    {"kernel_gradient", always, "the only way to the gradient of the kernel"},
};

}  // namespace

std::span<const AlgorithmRule> algorithm_rules() { return rules; }

}  // namespace kiln
