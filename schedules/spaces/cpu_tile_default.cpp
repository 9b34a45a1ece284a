#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "schedules/spaces/cpu_tile_cases.h"
#include "schedules/spaces/cpu_tile_races.h"
#include "schedules/spaces/cpu_tile_rules.h"
#include "schedules/spaces/fetched_weights.h"
#include "schedules/spaces/spilled_sums.h"
#include "workload/division.h"

namespace kiln {
namespace {

// How many tiles make a block of pixels.
void choose_blocks(const TileFacts &f, const TileCase &kind, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const ConvLoops &s = f.shape;
    const int64_t x_tiles = f.x_tiles(k->pixels), y_tiles = ceil_div(s.output[1], k->rows);
    const int64_t panels = f.panels(k->vectors);
    const auto block = [](const std::vector<int64_t> &values, int64_t tiles, double wanted) {
        return nearest(values, std::min<double>(double(tiles), wanted));
    };
    k->panel_block = block(domains.panel_block, panels, double(panels));
    if (stores_decide(f, k->vectors)) {
        constexpr int64_t padded_rows = 4;  // of a copy: a tile's own row would be copied three times
        k->x_block = block(domains.x_block, 1, 1);
        k->row_block = block(domains.row_block, y_tiles, s.taps() > 1 ? padded_rows : 1);
        return;
    }
    if (kind.block == TileCase::Block::one_tile) {
        k->panel_block = depthwise_panels_together(f, domains.panel_block, *k).value_or(k->panel_block);
        if (groups_pass_once(f)) k->panel_block = domains.panel_block.front();
        k->x_block = block(domains.x_block, 1, 1), k->row_block = block(domains.row_block, 1, 1);
        return;
    }
    // A block of pixels stays in a quarter of the L2 cache while the panels pass, beside the panel and the output. Weights that
    // the cache does not hold come from far away for each block, so there is one, if only the input fits.
    const double input_bytes = 4.0 * double(s.input_channels * s.input[0] * s.input[1]);
    const bool passes_once = f.streams_weights() && input_bytes < 0.8 * f.core.l2_bytes;
    const double room = passes_once ? double(f.core.l2_bytes) : f.core.l2_bytes / 4.0;
    const double row_bytes = 4.0 * s.input_channels * s.input[0] * s.stride[1];
    const double tile_bytes = 4.0 * s.input_channels * s.stride[0] * k->pixels * f.x_lanes;
    k->row_block = block(domains.row_block, y_tiles, room / row_bytes / k->rows);
    if (s.converts ||
        s.parts > 1) {  // the copy of a block that is not whole takes rows that do not exist, one test each
        const int64_t whole = nearest_divisor(domains.row_block, y_tiles, k->row_block);
        if (2 * whole >= k->row_block) k->row_block = whole;
    }
    k->x_block = block(domains.x_block, x_tiles, s.output[1] > 1 ? double(x_tiles) : room / tile_bytes);
    if (const auto few = few_tiles_a_panel(f, k->vectors))
        k->x_block = block(domains.x_block, *few, double(k->x_block));
    if (requantizes_often(s) && s.output[1] == 1) {
        // Panels write parts of cache lines of the result, which stay in the L1 cache until the last panel has passed.
        const double written = double(s.output_channels * k->pixels) + tile_bytes;
        k->x_block = block(domains.x_block, x_tiles, f.core.l1_bytes / 2.0 / written);
    }
}

// What a depthwise convolution makes of two rows stays in a part of the L2 cache. They share what they load, and so do two columns
// of windows that have more taps in common. (By times of 10 to 40 tiles and blocks for six layers on Zen 3.)
void compute_input_in_blocks(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const ConvLoops &s = f.shape;
    constexpr int64_t rows = 2;
    const int64_t y_tiles = ceil_div(s.output[1], k->rows), x_tiles = f.x_tiles(k->pixels);
    k->row_block = nearest(domains.row_block, double(std::min(y_tiles, ceil_div(rows, k->rows))));
    const double tile_bytes = 4.0 * double(k->rows * k->row_block * k->pixels * s.input_channels);
    const double room = double(f.core.l2_bytes) / tile_bytes;
    const bool fits_whole = double(x_tiles) < room / 2;
    k->stage_input = fits_whole ? 1 : 4;
    k->x_block = nearest(domains.x_block, fits_whole ? double(x_tiles) : room / 4);
}

// Precondition: blocks are chosen, those of several threads too.
void choose_depthwise_tile(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    k->depthwise_rows = nearest(domains.depthwise_rows, double(std::min<int64_t>(2, k->rows * k->row_block)));
    k->depthwise_pixels =
        nearest(domains.depthwise_pixels, f.shape.taps_in_front > 9 || k->depthwise_rows == 1 ? 2 : 1);
}

// How the sum over kernel columns, rows and channels is written.
void choose_sum(const TileFacts &f, const TileCase &kind, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const ConvLoops &s = f.shape;
    // Neighbouring pixels share joined floats; unrolled beyond the stride, LLVM keeps them in registers and spills the
    // sums.
    k->join_columns = kind.sum == TileCase::Sum::joined_columns;
    const int64_t unrolled = unrolled_without_spills(kind.unroll ? kind.unroll : s.input_channels, f.registers, s.parts,
                                                     k->pixels * k->rows);
    k->unroll = k->join_columns ? nearest_divisor(domains.unroll, s.input_channels * s.kernel[0],
                                                  std::min(kind.unroll, s.stride[0] * s.input_channels))
                                : nearest_divisor(domains.unroll, s.input_channels, unrolled);
    k->unroll_columns = kind.sum == TileCase::Sum::columns_unrolled ? domains.unroll_columns.back() : 0;
    k->spread = nearest(domains.spread, double(kind.spread));
    k->share_rows = k->unroll_rows = kind.share_rows && f.shares_rows() && k->rows > 1;
    if (f.sums_depthwise_taps() && !k->inline_sum) k->unroll_rows = domains.unroll_rows.back();
    // A line of a turned copy comes once for all taps: they are the body of the loop over channels. So many that the processor would
    // decode them anew each time have a loop over columns, by races of seven layers on a Zen 2.
    if (f.turns_input() && s.taps() > 1) {
        constexpr int64_t most_unrolled_taps = 25;
        k->unroll = 1;
        k->unroll_columns = s.taps() <= most_unrolled_taps ? domains.unroll_columns.back() : 0;
        k->unroll_rows = domains.unroll_rows.back();
    }
}

// Takes back unrolling that would be too much code.
void unroll_less(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const ConvLoops &s = f.shape;
    // Columns that are unrolled apart cannot be left out by the phases that do not have them.
    if (s.skips_missing_taps(k->vectors * f.lanes)) k->unroll_columns = k->unroll_tiles = 0;
    if (is_too_much_code(s, *k)) k->unroll_tiles = 0;
    if (is_too_much_code(s, *k)) k->unroll_columns = 0;
    // Only columns that are unrolled share what was spread.
    if (k->spread > 1 && s.kernel[0] > 1 && !k->unroll_columns)
        k->spread = nearest(domains.spread, f.spreads() ? 1 : 0);
    if (is_too_much_code(s, *k)) k->unroll_rows = k->share_rows = 0;
    if (k->rows > 1 && !k->share_rows) k->skip_rows = 0;
}

// Whether each input is read so few times that a copy of it costs more than tests at the edges of the image: for one panel of outputs,
// or for two where strides leave fewer taps to a pixel. Not where a kernel row's columns and channels are one loop and windows
// overlap, since a copy makes that loop whole vectors; nor in tiles of several rows, which would multiply
// those in the padding, but for those with strides on a core where races said otherwise (Core::tests_strided_rows).
bool reads_seldom(const TileFacts &f, const CpuTileKnobs &k) {
    const ConvLoops &s = f.shape;
    const bool is_strided = s.stride[0] > 1;
    const bool has_one_row = k.rows == 1 || (is_strided && f.core.tests_strided_rows);
    return (f.is_nhwc() || f.reads_few_planes()) && f.x_lanes == 1 && s.groups == 1 && s.parts == 1 && has_one_row &&
           f.panels(k.vectors) <= (is_strided ? 2 : 1) && (is_strided || !k.join_columns);
}

// Pixels of a tile, or fewer that divide a row of results, where some do. Without a copy of the padding, the last tile of other rows
// tests each of its inputs. By races on an Emerald Rapids, rows of 40 to 80 results in tiles that do not divide them take 2.8 to
// 3.1 times as long with two and three vectors of channels, 1.2 times with one. With AVX2 the smaller tiles would be slower.
// Tiles of several rows have 12 to 18 sums: one layer took 1.67 times as long as with a copy in tiles of 20, another 1.31 in tiles of 6.
int64_t dividing_pixels(const TileFacts &f, const CpuTileDomains &domains, const CpuTileKnobs &k) {
    if (f.lanes < 16) return k.pixels;
    int64_t best = 0;
    constexpr int64_t fewest_of_rows = 12, most_of_rows = 18;
    for (const int64_t fewer : domains.pixels) {
        const int64_t sums = fewer * k.rows * k.vectors;
        const bool is_near = k.rows == 1 ? fewer <= k.pixels && 3 * fewer >= 2 * k.pixels
                                         : sums >= fewest_of_rows && sums <= most_of_rows;
        const bool hides_latency = fewer * k.rows * k.vectors >= fewest_sums(f, domains);
        if (is_near && hides_latency && f.shape.output[0] % fewer == 0) best = std::max(best, fewer);
    }
    return best > 0 ? best : k.pixels;
}

// Whether tests for padding fold away, since the few tiles of a row are unrolled.
bool tests_fold_away(const TileFacts &f, const CpuTileKnobs &k) {
    const int64_t x_tiles = f.x_tiles(k.pixels);
    return f.shape.groups == 1 && f.shape.parts == 1 && f.x_lanes == 1 && !k.join_columns && k.rows == 1 &&
           k.x_block == x_tiles && x_tiles <= 4;
}

// What is unrolled or left out for the padding, and less of it where that is too much code.
void choose_unrolling(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    k->unroll_tiles = tests_fold_away(f, *k) ? domains.unroll_tiles.back() : 0;
    const bool leaves_out = !k->inline_sum && !f.depthwise() && (k->rows == 1 || k->share_rows);
    k->skip_rows = leaves_out && (!k->unroll_rows || k->share_rows) ? domains.skip_rows.back() : 0;
    unroll_less(f, domains, k);
}

// Whether tiles rather test for padding where they read than have a copy of it, and how many pixels they have then.
struct InPlace {
    bool pays = false;
    int64_t pixels = 1;
};

InPlace in_place(const TileFacts &f, const CpuTileDomains &domains, const CpuTileKnobs &k) {
    const int64_t pixels = dividing_pixels(f, domains, k);
    // Where nothing divides, a copy takes half as long as the tests of several vectors.
    const bool tests_many = f.lanes >= 16 && k.vectors > 1 && f.shape.output[0] % pixels != 0;
    return {reads_seldom(f, k) && !tests_many, pixels};
}

// Whether each tile of a row reads padding: the first one, the last one, and there is none between them.
bool ends_with_each_tile(const TileFacts &f, const CpuTileKnobs &k) {
    const ConvLoops &s = f.shape;
    const bool first = s.pad_lo[0] > 0, last = s.reach(s.output[0], 0) - s.pad_lo[0] > s.dilated(0);
    return f.x_tiles(k.pixels) <= int64_t{first} + int64_t{last};
}

// Steps of four channels then test for padding in all tiles.
bool tests_each_tile(const TileFacts &f, const CpuTileKnobs &k) {
    const ConvLoops &s = f.shape;
    return s.parts == 4 && s.groups == 1 && f.is_nhwc() && k.rows == 1 && ends_with_each_tile(f, k);
}

// Rows are not left out of tiles of several, and each tap of a tile at an end tests. By races of 30 layers of 2 to 37 groups, those for
// which this holds take 0.54 to 0.98 of the time with a padded copy, and others 0.94 to 1.10.
bool copies_groups(const TileFacts &f, const CpuTileKnobs &k) {
    const bool pads = f.shape.reads_outside(0) || f.shape.reads_outside(1);
    return f.has_raced_groups() && pads && (k.rows > 1 || ends_with_each_tile(f, k));
}

// By races on an Emerald Rapids with VNNI, 20 such layers take 0.74 to 0.91 of the time with a copy, and those with a tile that needs no
// test up to 1.11. On a Zen 5 four take 0.81 to 0.95.
bool copies_tested_tiles(const TileFacts &f, const CpuTileKnobs &k) {
    return f.core.copies_quantized_padding && tests_each_tile(f, k);
}

// By races on a Zen 4, eight such layers take 0.86 to 1.01 of the time without code of its own for tiles that need no test, which none
// runs.
bool has_one_code(const TileFacts &f, const CpuTileKnobs &k) {
    return f.core.half_vectors_as_fast && tests_each_tile(f, k);
}

// Whether tiles of these rows and pixels alone have as many sums as the limits ask of all tiles.
bool has_sums_enough(const TileFacts &f, const CpuTileDomains &all, std::vector<int64_t> rows,
                     std::vector<int64_t> pixels) {
    CpuTileDomains fewer = all;
    fewer.rows = std::move(rows), fewer.pixels = std::move(pixels);
    return fewest_sums(f, fewer) >= fewest_sums(f, all);
}

// Whether so many rows of taps lie in the padding, as those of large dilations do, that tiles of one row which leave them out are faster
// than anything else: by races of two layers with AVX2 on a Zen 2, 14x14 by 12 and 33x33 by 24, they take 0.18 and 0.24 of the time. Other
// targets were not measured.
bool leaves_out_many_rows(const TileFacts &f, const CpuTileDomains &domains) {
    constexpr double many = 0.3;
    const ConvLoops &s = f.shape;
    const bool is_avx2 = f.lanes == 8 && f.registers == 16;
    const bool may_leave_out = is_avx2 && f.is_nhwc() && f.x_lanes == 1 && s.groups == 1 && s.parts == 1 &&
                               !s.converts && !s.has_holes() && !f.depthwise() && domains.skip_rows.back() == 1;
    if (!may_leave_out || !has_sums_enough(f, domains, {1}, domains.pixels)) return false;
    int64_t inside = 0;
    for (int64_t r = 0; r < s.kernel[1]; r++) {
        const int64_t above = s.pad_lo[1] - r * s.dilation[1];  // rows of padding over the tap of the first result
        const int64_t first = ceil_div(std::max<int64_t>(above, 0), s.stride[1]);
        const int64_t end = ceil_div(std::max<int64_t>(above + s.input[1], 0), s.stride[1]);
        inside += std::max<int64_t>(0, std::min(end, s.output[1]) - first);
    }
    return double(inside) <= (1 - many) * double(s.output[1] * s.kernel[1]);
}

// Tiles of one row, of as many pixels that all of a tile read the same columns of taps, where there are such: those in the padding fold
// away then.
CpuTileDomains between_taps(const TileFacts &f, CpuTileDomains domains) {
    const ConvLoops &s = f.shape;
    domains.rows = {1};
    int64_t common = s.output[0];
    for (int64_t tap = 0; tap < s.kernel[0]; tap++) {
        const int64_t first =
            s.pad_lo[0] - tap * s.dilation[0];  // times the stride: the first result that reads the image
        for (const int64_t edge : {ceil_div(std::max<int64_t>(first, 0), s.stride[0]),
                                   ceil_div(std::max<int64_t>(first + s.input[0], 0), s.stride[0])}) {
            if (edge < s.output[0]) common = std::gcd(common, edge);
        }
    }
    std::vector<int64_t> pixels = domains.pixels;
    std::erase_if(pixels, [common](int64_t count) { return count < 2 || common % count != 0; });
    if (!pixels.empty() && has_sums_enough(f, domains, domains.rows, pixels)) domains.pixels = std::move(pixels);
    return domains;
}

enum class Copy { none, of_rows, of_all, of_turned_tiles, of_converted_tiles, of_few_tiles };

bool may_copy_rows(const CpuTileDomains &domains) { return std::ranges::count(domains.stage_input, 1) > 0; }

Copy chosen_copy(const TileFacts &f, const TileCase &kind, const CpuTileDomains &domains, const CpuTileKnobs &k) {
    const ConvLoops &s = f.shape;
    if (s.folds()) return Copy::of_rows;
    if (leaves_out_many_rows(f, domains)) return Copy::none;
    if (f.needs_copy() || copies_groups(f, k)) return Copy::of_all;
    if (f.x_lanes > 1 && s.input_block > 1) return s.taps() == 1 ? Copy::of_turned_tiles : Copy::of_rows;
    // Numbers with a sign are shifted by one bitwise operation on a whole step of channels.
    const bool converts_for_free = s.parts == 4 && f.core.logic_beside_products;
    // Where the tests for padding can fold away, they cost nothing; else a padded copy of the block is cheaper.
    const bool tests_are_free = tests_fold_away(f, k) && k.unroll_columns;
    const bool wants_copy =  // conversions, the search for holes and for channels in blocks are done once for all taps
        (s.converts && !converts_for_free) || s.has_holes() || f.gathers_parts() || (f.spreads() && !f.is_nhwc()) ||
        copies_tested_tiles(f, k) || (kind.copies_padding && !tests_are_free && !in_place(f, domains, k).pays);
    if (may_copy_rows(domains) && wants_copy)
        return s.converts && f.copies_blocks() ? Copy::of_converted_tiles : Copy::of_rows;
    // Vectors of pixels do not test for padding pixel by pixel.
    const bool has_padding_beside = f.x_lanes > 1 && s.reads_outside(0);
    if (has_padding_beside) return may_copy_rows(domains) ? Copy::of_rows : Copy::of_few_tiles;
    // Each channel of a tile's pixels is a cache line of its own, most of which the next tiles need. Where L1 cannot keep these lines,
    // a copy of a few tiles brings the channels together.
    const bool is_by_plane = f.copies_blocks() && f.x_lanes == 1 && s.input_block == 1 && f.panels(k.vectors) > 1;
    return is_by_plane && s.input_channels * f.core.line_bytes >= f.core.l1_bytes ? Copy::of_few_tiles : Copy::none;
}

// A turned copy has whole rows where they stay in the L2 cache, else fewer tiles in x.
void choose_turned_copy(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const ConvLoops &s = f.shape;
    const double column_bytes = 4.0 * double(s.input_channels * s.reach(k->rows * k->row_block, 1));
    if (column_bytes * double(s.input[0]) <= double(f.core.l2_bytes)) return;
    k->stage_input = 4;
    k->x_block = nearest(domains.x_block, f.core.l2_bytes / 2.0 / (column_bytes * double(k->pixels * f.x_lanes)));
}

int64_t stage_input_of(Copy copy) {
    switch (copy) {
        case Copy::none:
            return 0;
        case Copy::of_rows:
            return 1;
        case Copy::of_all:
            return 2;
        default:
            return 4;
    }
}

// Where padding, and what lies apart or is converted, comes from; and the blocks and tiles that go with it. Precondition: all of
// choose_unrolling().
void choose_padding(const TileFacts &f, const TileCase &kind, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const Copy copy = chosen_copy(f, kind, domains, *k);
    k->stage_input = stage_input_of(copy);
    k->turned = domains.turned.back();
    if (k->turned && f.shape.taps() > 1) choose_turned_copy(f, domains, k);
    if (copy == Copy::of_converted_tiles && !f.streams_weights()) {
        // What a tile reads is converted just before: it is in the L1 cache then, as long as weights need not come from far away
        // for each tile.
        k->x_block = domains.x_block.front(), k->row_block = domains.row_block.front();
    }
    if (copy == Copy::of_few_tiles)
        k->x_block = nearest(domains.x_block, std::min<double>(4, double(f.x_tiles(k->pixels))));
    // Blocks stay those of the larger tiles.
    const InPlace tested = in_place(f, domains, *k);
    if (copy == Copy::none && may_copy_rows(domains) && tested.pays && !tests_fold_away(f, *k))
        k->pixels = tested.pixels;
}

// While tiles share a panel of weights, memory has the time to bring the next one, if L2 keeps both beside what the tiles read. Tiles
// in the padding have loops of their own, each of which would fetch a whole panel.
void choose_weight_fetches(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    k->streams = has_streams(f, k->vectors) ? domains.streams.back() : 0;
    k->fetch_weights = default_fetched_kilobytes(domains.fetch_weights, f.weight_bytes(), k->pixels * k->rows, f.core);
    const double panel_bytes = 4.0 * double(f.shape.taps() * f.shape.input_channels * k->vectors * f.lanes);
    const bool stays = panel_bytes * 4 <= double(f.core.l2_bytes);
    // Loops that leave out rows fetch no panel.
    const bool leaves_out = has_one_code(f, *k) && !k->stage_input && k->skip_rows;
    if (!k->fetch_weights || !stays || k->partition || leaves_out || !shares_panels(f, *k)) return;
    k->fetch_weights = 0, k->fetch_panels = domains.fetch_panels.back();
    // By races of 13 quantized layers on an Emerald Rapids with VNNI, AVX-512 and AVX2, sums take 0.68 to 1.03 of the time without such
    // loops.
    if (f.shape.parts > 1 && k->stage_input) k->skip_rows = 0;
}

// Blocks keep their pixels.
void shorten_tile(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const int64_t pixels = pixels_of_short_tile(f, domains.pixels, *k);
    k->x_block = nearest(domains.x_block, double(k->x_block * k->pixels) / double(pixels));
    k->pixels = pixels;
}

void choose_masks(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    // A test is an instruction for each vector, and a register for each place that is tested. Unrolled tiles have none.
    k->partition = k->stage_input || k->unroll_tiles || has_one_code(f, *k) ? 0 : domains.partition.back();
    // Where a target has masks for free.
    k->masked = f.lanes >= 16 ? domains.masked.back() : 0;
}

}  // namespace

// Each choice builds on those before it.
CpuTileKnobs default_tile_knobs(const TileFacts &f, const CpuTileDomains &domains) {
    CpuTileKnobs k;
    const bool by_pixel = passes_by_pixel(f), streams = by_pixel || streams_depthwise(f);
    const bool has_sums = f.sums_depthwise_rows() || f.sums_depthwise_taps();
    k.inline_sum = has_sums && !streams ? 0 : domains.inline_sum.back();
    const bool leaves_out = leaves_out_many_rows(f, domains);
    const RegisterTile tile =
        streams ? RegisterTile{domains.vectors.front(), domains.pixels.front(), nearest(domains.rows, by_pixel ? 1 : 4)}
                : cheapest_register_tile(f, leaves_out ? between_taps(f, domains) : domains, k.inline_sum);
    const TileCase &kind = tile_case(f, tile);
    k.vectors = tile.vectors, k.pixels = tile.pixels, k.rows = tile.rows;
    choose_blocks(f, kind, domains, &k);
    choose_sum(f, kind, domains, &k);
    choose_unrolling(f, domains, &k);
    choose_padding(f, kind, domains, &k);
    if (f.shape.is_input_computed()) compute_input_in_blocks(f, domains, &k);
    k.prefetch = !k.stage_input && is_fetched_late(f, k) ? nearest(domains.prefetch, 1) : 0;
    shorten_tile(f, domains, &k);
    k.fetch_result = default_fetch_result(f, domains, k);
    choose_masks(f, domains, &k);
    k.parallel = domains.parallel.front();
    if (f.threads > 1) {
        split_over_threads(f, domains, &k);
        unroll_less(f, domains, &k);  // a block that is a part of a row tests whether it is at the border
    }
    if (f.shape.is_input_computed()) choose_depthwise_tile(f, domains, &k);
    choose_weight_fetches(f, domains, &k);
    k.fetch_blocks = fetches_blocks(f, k) ? domains.fetch_blocks.back() : 0;
    return k;
}

}  // namespace kiln
