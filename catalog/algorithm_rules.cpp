#include "catalog/algorithm_rules.h"

#include <algorithm>
#include <array>

#include "catalog/conv_rewrites.h"
#include "catalog/fold_algorithm.h"
#include "catalog/fold_cost.h"
#include "catalog/winograd_algorithm.h"
#include "rewrites/conv_loops.h"
#include "schedules/spaces/depthwise/channel_tile_space.h"
#include "schedules/spaces/depthwise/row_tile_space.h"
#include "workload/division.h"

namespace kiln {
namespace {

bool always(const Workload &, const Target &, const Core &) { return true; }

// Of channels, fewer do not fill the vectors of the transforms.
bool fill_vectors(const ConvLoops &s) { return s.input_channels >= 8 && s.output_channels >= 16; }

// The products that Winograd saves must pay for its transforms. They do for a window of 3x3 where tiles of 4x4 outputs are at
// least half full. Few tiles must be two thirds full: they read the weights, which are four times as large, for few outputs.
bool has_full_tiles(const ConvLoops &s) {
    int64_t tiles = s.batch * s.output[2], outputs = tiles;
    for (int d = 0; d < 2; d++) {
        const int64_t along = (s.output[d] + 3) / 4;
        tiles *= along, outputs *= s.output[d];
    }
    const int64_t places = 16 * tiles;
    return (tiles >= 4 && 3 * outputs >= 2 * places) || (tiles >= 9 && 2 * outputs >= places);
}

bool is_three_by_three(const ConvLoops &s) { return s.kernel[0] == 3 && s.kernel[1] == 3; }

// With m outputs a tile side: the products, what is added to make their operands and of their results, and the weights, of which
// each product has its own. Beyond the L2 cache they come from memory.
double winograd_cycles(int m, const ConvLoops &s, const Target &target, const Core &core) {
    double places = 1, tiles = double(s.batch * s.output[2]);
    for (int d = 0; d < 2; d++) {
        const bool is_transformed = s.kernel[d] > 1;
        tiles *= double(ceil_div(s.output[d], is_transformed ? m : 1));
        if (is_transformed) places *= double(m + s.kernel[d] - 1);
    }
    const int64_t lanes = vector_lanes(target);
    const auto in = double(s.input_channels * s.kernel[2]), out = double(s.output_channels);
    // For an operand or a result, in whole vectors; of other windows by measurement of 47 layers on a Zen 3.
    const double additions = is_three_by_three(s) ? 4 : 7;
    const double added =
        additions * double(ceil_div(s.input_channels, lanes) * s.kernel[2] + ceil_div(s.output_channels, lanes));
    // Tiles of five outputs take longer than their products, by measurement of 9 layers on a Zen 4.
    const double odd = m == 5 ? 1.15 : 1;
    const double cycles = odd * tiles * places * (in * out / double(lanes) + added) / core.vectors_a_cycle();
    return beside_weights(cycles, 4 * places * in * out, core);
}

double direct_cycles(const ConvLoops &s, const Target &target, const Core &core) {
    const double weights = double(s.taps() * s.input_channels) * double(s.output_channels);
    const double outputs = double(s.batch * s.output[2]) * double(s.output[0] * s.output[1]);
    return beside_weights(outputs * weights / (vector_lanes(target) * core.vectors_a_cycle()), 4 * weights, core);
}

// Errors grow with the places of a tile's sides: those of ten, or of nine for four outputs, come close to the default budget.
bool is_accurate(int m, const ConvLoops &s) {
    const bool is_plane = s.kernel[0] > 1 && s.kernel[1] > 1;
    const int64_t side = m + std::max(s.kernel[0], s.kernel[1]) - 1;
    return side <= (!is_plane ? 10 : m <= 3 ? 9 : 8);
}

constexpr std::array tile_sides{2, 3, 4, 5};

bool winograd_pays(int m, const ConvLoops &s, const Target &target, const Core &core) {
    if (!fill_vectors(s)) return false;
    if (is_three_by_three(s)) return has_full_tiles(s);
    return winograd_cycles(m, s, target, core) < 0.75 * direct_cycles(s, target, core);
}

template<int m>
bool winograd_pays_most(const Workload &w, const Target &target, const Core &core) {
    const ConvLoops s = loops_of("winograd_4", w);
    if (s.folds()) return m <= 4 && strided_winograd_pays(m, w, target, core);
    if (!is_accurate(m, s) || !winograd_pays(m, s, target, core)) return false;
    const double cycles = winograd_cycles(m, s, target, core);
    return std::ranges::none_of(tile_sides, [&](int other) {
        return is_accurate(other, s) && winograd_cycles(other, s, target, core) < cycles * 0.95;
    });
}

bool is_grouped(const Workload &w, const Target &, const Core &) {
    return w.feature_group_count > 1 && !(w.kernel[w.spatial_rank] == 1);
}

bool fold_pays(const Workload &w, const Target &target, const Core &core) { return fold_cost(w, target, core).pays(); }

// Sums of NHWC stored in rows are scattered element by element. Caches hide that of small images.
bool reads_rows(const Workload &w, const Target &target, const Core &core) {
    const ConvLoops s = conv_loops(w);
    if (s.stored_input.block == 1) return true;
    const bool is_nhwc = s.stored_input.block == s.stored_input.channels;
    return is_nhwc && s.stored_result.block == 1 && s.stride[0] == 1 && vector_lanes(target) >= 16 &&
           is_beyond_l2(s, core);
}

// Within L2. One side alone is turned on its way in cheaper than its sums are on their way out; on the way out it pays where taps
// are few and results as many as inputs. NCHW on both sides: a window of few columns is cheaper on rows as they lie, and so are
// rows that fill a vector, since turning a column costs as much as some taps. Blocks of half a vector need no turning: they are
// copied for full vectors where the products of many taps decide, and a stride has not spread these over more copies.
bool turns_channels(const Workload &w, const Target &target, const Core &core) {
    const ConvLoops s = conv_loops(w);
    const int lanes = vector_lanes(target);
    if (lanes < 16) return false;
    const auto in = channels_in_memory(s.stored_input, lanes), out = channels_in_memory(s.stored_result, lanes);
    const bool has_columns = s.kernel[0] > 3 && s.kernel[1] > 3;
    if (in == ChannelsInMemory::in_pieces && s.stored_input.block == s.stored_result.block)
        return 2 * s.stored_input.block == lanes && has_columns && s.stride[0] == 1 && !core.half_vectors_as_fast;
    if (is_beyond_l2(s, core)) return false;
    if (in == ChannelsInMemory::apart && out == ChannelsInMemory::together) return s.kernel[0] > 1;
    if (in == ChannelsInMemory::together && out == ChannelsInMemory::apart)
        return s.kernel[0] > 1 && !has_columns && s.stride[0] == 1;
    if (in != ChannelsInMemory::apart || out != ChannelsInMemory::apart) return false;
    return s.stride[0] > 1 && ((has_columns && s.output[0] <= lanes) || s.output[0] * 4 <= lanes);
}

// What is gathered for a pixel serves all outputs of its channel.
bool has_many_outputs_a_channel(const Workload &w, const Target &, const Core &) {
    return conv_loops(w).group_outputs() > 16;
}

constexpr AlgorithmRule rules[] = {
    {"phases", always, "the input has holes: the output's phases multiply none of their zeros"},
    {"winograd_4", winograd_pays_most<4>,
     "8 input and 16 output channels or more: for 3x3 36 products for 144, at errors within the default budget; other "
     "windows, and strides with blocks of pixels as channels, where an estimate has fewer cycles"},
    {"winograd_3", winograd_pays_most<3>,
     "as winograd_4, with 25 products for 81: tiles that fill better, have fewer weights or, of 5x5 and larger "
     "windows, "
     "smaller errors"},
    {"winograd_2", winograd_pays_most<2>,
     "as winograd_4, with 16 products for 36: tiles that fill better, have fewer weights or smaller errors"},
    {"winograd_5", winograd_pays_most<5>,
     "as winograd_4, with 49 products for 225: tiles that fill better, as in 14x14"},
    {"input_phases", is_grouped,
     "groups with dilation: without it, the rows of a tile share inputs that were spread over lanes"},
    {fold_fused, fold_pays, "blocks of pixels as channels are estimated to take fewer cycles, their fold included"},
    {"depthwise_turned", turns_channels,
     "depthwise, within L2, and one side has channels apart, or both with strides and rows that fill no vector; or "
     "blocks of half a vector: channels are brought together once for all taps"},
    {"depthwise_rows", reads_rows,
     "depthwise, and the input has contiguous rows: vectors of channels would be gathered, vectors of columns are "
     "loaded as they lie; or the output has, and large images would be stored element by element"},
    {"direct", always, "the definition needs no transforms, and its sums are the most accurate"},
    {"scalar_dense", has_many_outputs_a_channel,
     "many outputs of each channel, on a core without vectors: what a pixel reads is gathered once for all of them"},
    {"scalar_depthwise", always, "a core without vectors: weights of a channel stay in registers for a tile of pixels"},
    {"scalar_dense", always,
     "a core without vectors: two pixels share a word, where a product is one instruction for both"},
    {"quantized_depthwise", always,
     "depthwise: a lane has one channel, and its columns fill the units that multiply several numbers a lane"},
    {"quantized", always, "the definition, several input channels a lane"},
    {"kernel_gradient", always, "the only way to the gradient of the kernel"},
};

}  // namespace

std::span<const AlgorithmRule> algorithm_rules() { return rules; }

}  // namespace kiln
