#include "schedules/spaces/cpu_tile_races.h"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

// Whether tiles of a depthwise layer are for two panels in turns at least. The compiler loads the weights and the bias of one panel before
// the loop over its tiles, and 16 registers have no room for them: tiles then take up to 2.8 times as long, by races on a Zen 3 with
// AVX2. With SSE two panels gain where there are strides. With AVX-512, windows of up to 9 taps gain on an Emerald Rapids, and 5x5 loses;
// other CPUs are not measured.
bool two_take_turns(const TileFacts &f, int64_t vectors) {
    const ConvLoops &s = f.shape;
    if (f.registers <= 16) return s.stride[0] > 1 || (f.lanes == 8 && vectors == 1);
    return f.core.has_two_wide_multipliers && s.taps() <= 9 && vectors == 1;
}

// Panels that take turns on a tile: those of a block of the input, but `at_least` so many where there are, without a smaller last
// block if possible.
int64_t panels_in_turns(const std::vector<int64_t> &values, int64_t panels, int64_t in_block, int64_t at_least) {
    at_least = std::min(at_least, panels);
    const int64_t whole = nearest_divisor(values, panels, std::max(in_block, at_least));
    if (whole >= at_least) return whole;
    constexpr int64_t few = 8;
    for (const int64_t more : values) {
        if (more > at_least && more <= few && panels % more == 0) return more;
    }
    return nearest(values, double(at_least));
}

// Panels of a channels-last depthwise layer that walk over the image together, where all of them would drive out of the L1 cache what
// the next tile, or the next row of tiles, reads again; nothing: all. Half of L1 holds the rows of the tiles in one row, and L2 the whole
// image, on a Golden Cove the results, too. By races of 18 layers on a Zen 5, 3x3 windows take 0.59 to 1.01 of the time with weights in the
// caches and 0.68 to 0.97 with weights in memory. 5x5 windows take 0.72 to 1.05 and 0.87 to 1.02, but for one that two races do not agree
// on. Larger windows do not gain. Pixels whose lines share a set of L1 lose. 22 layers on an Emerald Rapids take 0.78 to 1.02 and
// 0.80 to 1.07; two panels of a row without strides are too few there.
std::optional<int64_t> panels_in_l1(const TileFacts &f, const std::vector<int64_t> &values, const CpuTileKnobs &k) {
    const ConvLoops &s = f.shape;
    constexpr int64_t most_taps = 25;
    const bool is_raced = f.core.blocks_depthwise_panels && s.taps() <= most_taps;
    if (!is_raced || k.inline_sum) return std::nullopt;
    const double pixel_bytes = 4.0 * double(s.all_input_channels()), room = double(f.core.l1_bytes) / 2;
    const double results = f.core.has_two_wide_multipliers ? f.result_bytes() : 0;
    if (pixel_bytes * double(s.input[0] * s.input[1]) + results > double(f.core.l2_bytes)) return std::nullopt;
    if (f.core.shares_l1_sets(4 * s.all_input_channels())) return std::nullopt;
    const int64_t rows = std::min(s.reach(k.rows, 1), s.input[1]), columns = std::min(s.reach(k.pixels, 0), s.input[0]);
    const bool reads_rows_twice = rows >= 2 * k.rows * s.stride[1];
    if (pixel_bytes * double(rows * columns) <= room && !reads_rows_twice) return std::nullopt;
    const double panel_bytes = 4.0 * double(k.vectors * f.lanes * rows * s.input[0]);
    const auto in_room = static_cast<int64_t>(std::lround(room / panel_bytes));
    const int64_t at_least = f.core.has_two_wide_multipliers && s.stride[0] == 1 ? 3 : 2;
    return panels_in_turns(values, f.panels(k.vectors), in_room, at_least);
}

// Whether the rows of a tile have driven each other out of L2 when the next row of tiles reads some of them again. Then fetches
// pay with AVX2, too, where two panels share each line, for the windows that were faster in races on a Zen 3: 3x3 with strides, and
// 5x5.
bool loses_rows(const TileFacts &f, const CpuTileKnobs &k) {
    const ConvLoops &s = f.shape;
    const double row_bytes = 4.0 * double(s.all_input_channels() * s.input[0]);
    const bool is_fetched_once = f.lanes * 8 == f.core.line_bytes && k.vectors == 1 && k.panel_block % 2 == 0;
    const bool is_square = s.kernel[0] == s.kernel[1] && s.stride[0] == s.stride[1];
    const bool was_faster = is_square && (s.kernel[0] == 5 || (s.kernel[0] == 3 && s.stride[0] == 2));
    return is_fetched_once && was_faster && row_bytes * double(s.reach(k.rows, 1)) > double(f.core.l2_bytes) * 0.75;
}

}  // namespace

int64_t nearest(const std::vector<int64_t> &values, double wanted) {
    int64_t best = values.front();
    for (int64_t v : values) {
        if (v <= wanted) best = v;
    }
    return best;
}

int64_t nearest_divisor(const std::vector<int64_t> &values, int64_t length, int64_t wanted) {
    int64_t best = 1;
    for (int64_t v : values) {
        if (v <= wanted && length % v == 0) best = v;
    }
    return best;
}

bool may_have_short_tiles(const TileFacts &f) {
    const ConvLoops &s = f.shape;
    return f.core.streams_short_tiles && f.x_lanes == 1 && s.taps() == 1 && s.parts == 1 && s.groups == 1;
}

int64_t pixels_of_short_tile(const TileFacts &f, const std::vector<int64_t> &values, const CpuTileKnobs &k) {
    constexpr int64_t sums = 16, most_vectors = 4;
    if (!k.prefetch || !may_have_short_tiles(f) || k.vectors > most_vectors) return k.pixels;
    return std::min(k.pixels, nearest(values, double(sums) / double(k.vectors)));
}

bool streams_to_one_vector(const TileFacts &f) {
    const ConvLoops &s = f.shape;
    const bool is_plain = !f.depthwise() && s.taps() == 1 && s.stride[0] == 1 && s.parts == 1 && s.groups == 1;
    return f.core.streams_few_pixels && is_plain && s.output_channels <= f.lanes &&
           f.input_bytes() > double(f.core.l2_bytes);
}

bool stores_decide(const TileFacts &f, int64_t vectors) {
    const ConvLoops &s = f.shape;
    const int64_t products = s.taps() * s.input_channels;
    const bool is_plain = f.stores_evenly() && !s.converts && !s.computes_results;
    if (!is_plain || f.result_bytes() <= 4 * double(f.core.l2_bytes)) return false;
    if (f.lanes == 8) {
        const bool has_order = f.panels(vectors) > 1 && (f.threads == 1 || s.output[1] > 1);
        return has_order && products <= (s.taps() == 1 ? 64 : 32);
    }
    return f.core.has_two_wide_multipliers && s.taps() > 1 && products <= 16 && s.output_channels >= 64;
}

std::optional<int64_t> few_tiles_a_panel(const TileFacts &f, int64_t vectors) {
    const bool is_raced =
        f.core.has_two_wide_multipliers && f.reads_stretches() && f.shape.parts == 1 && f.stores_evenly();
    if (!is_raced || f.shape.output[1] > 1 || f.panels(vectors) == 1) return std::nullopt;
    if (f.weight_bytes() <= double(f.core.l1_bytes)) return 1;
    if (f.weight_bytes() * 4 <= double(f.core.l2_bytes)) return 4;
    return std::nullopt;
}

std::optional<int64_t> depthwise_panels_together(const TileFacts &f, const std::vector<int64_t> &values,
                                                 const CpuTileKnobs &k) {
    if (!f.depthwise() || f.needs_copy()) return std::nullopt;
    if (f.is_nhwc()) return panels_in_l1(f, values, k);
    // The next block's input is far away: the panels of one walk over its plane in order.
    const int64_t in_block = std::max<int64_t>(1, f.shape.input_block / (k.vectors * f.lanes));
    return panels_in_turns(values, f.panels(k.vectors), in_block, two_take_turns(f, k.vectors) ? 2 : 1);
}

bool groups_pass_once(const TileFacts &f) { return f.has_raced_groups() && f.weight_bytes() > double(f.core.l2_bytes); }

bool is_fetched_late(const TileFacts &f, const CpuTileKnobs &k) {
    const ConvLoops &s = f.shape;
    const double input_bytes = f.input_bytes();
    const bool fills_lines = f.lanes * 4 >= f.core.line_bytes;
    const bool is_fetched_once =
        f.depthwise() ? fills_lines || loses_rows(f, k) : f.panels(k.vectors) == 1 && s.stride[0] == 1;
    // Of one vector of outputs, a line that L2 has takes as long to fetch as to multiply, unless a pixel has few.
    const bool has_few_lines = k.vectors > 1 || s.input_channels * 4 <= 4 * f.core.line_bytes;
    const bool leaves_with_result = may_have_short_tiles(f) && has_few_lines;
    const double near = double(f.core.l2_bytes) * (f.depthwise() ? 4 : leaves_with_result ? 0.5 : 1);
    // Large parts of an L3 cache hold a depthwise input between calls: prefetchers are in time for that.
    const DepthwiseFetches &of_core = f.core.depthwise_fetches;
    const bool stays = f.depthwise() && input_bytes < of_core.share_of_l3 * double(f.core.l3_bytes);
    const bool is_stream = k.inline_sum && !of_core.in_streams;
    return is_fetched_once && input_bytes > near && !stays && !is_stream && !streams_to_one_vector(f);
}

// In a network, an activation that is larger than half of L2 has left it in part when the next layer reads it, and the lines of the
// result, too, have.
bool leaves_l2(const TileFacts &f, double bytes) { return bytes * 2 > double(f.core.l2_bytes); }

bool fetches_blocks(const TileFacts &f, const CpuTileKnobs &k) {
    return shares_blocks(f, k) && !k.prefetch && leaves_l2(f, f.input_bytes());
}

int64_t default_fetch_result(const TileFacts &f, const CpuTileDomains &domains, const CpuTileKnobs &k) {
    constexpr int64_t few_products = 128, few_panels = 4;
    const int64_t vectors = k.vectors;
    if (f.depthwise()) {
        const double most = f.core.l3_bytes / 2.0;
        const bool leaves_l3 = f.core.l3_bytes > 0 && f.input_bytes() + f.result_bytes() > most;
        return f.core.depthwise_fetches.of_results && leaves_l3 && !k.inline_sum ? nearest(domains.fetch_result, 1) : 0;
    }
    if (f.reads_one_stretch() && f.panels(vectors) > 1 && leaves_l2(f, f.result_bytes()))
        return nearest(domains.fetch_result, 1);
    const bool is_short = f.shape.taps() * f.shape.input_channels <= few_products;
    const bool is_far = f.result_bytes() > double(f.core.l2_bytes);
    const bool is_scattered = f.panels(vectors) > few_panels && f.lanes == 8;
    return stores_decide(f, vectors) || (is_short && is_far && is_scattered) ? nearest(domains.fetch_result, 1) : 0;
}

}  // namespace kiln
