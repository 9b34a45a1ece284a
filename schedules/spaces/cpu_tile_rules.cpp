#include "schedules/spaces/cpu_tile_rules.h"

#include <algorithm>
#include <numeric>

#include "rewrites/panels.h"
#include "schedules/spaces/cpu_tile_cases.h"
#include "workload/division.h"

namespace kiln {

int64_t TileFacts::channel_vectors() const {
    return ceil_div(shape.group_panels ? shape.group_outputs() : shape.stored_channels(), lanes);
}

TileFacts tile_facts(const ConvLoops &shape, int lanes, const Target &target, const Core &core) {
    const int x_lanes = lanes == 1 ? vector_lanes(target) : 1;
    return {panelled(shape, lanes), lanes, x_lanes, vector_registers(target), core, target.threads};
}

bool fits_registers(const TileFacts &f, const RegisterTile &tile, bool inline_sum) {
    // A sum that is written out is one chain for each output. The compiler chooses what is live at once, so code size is the
    // limit.
    if (inline_sum) return tile.sums() * f.shape.taps() <= 512;
    // The registers hold the sums, the vectors of weights of one step, and an input; along x, the vectors of inputs and a
    // weight.
    return tile.sums() + (f.x_lanes > 1 ? tile.pixels : tile.vectors) + 1 <= f.registers;
}

int64_t unrolled_steps(const ConvLoops &s, const CpuTileKnobs &k) {
    const int64_t tile = register_tile(k).sums();
    if (k.inline_sum) return s.taps() * tile;
    const int64_t columns = k.unroll_columns ? s.kernel[0] : 1, tiles = k.unroll_tiles ? k.x_block : 1;
    const int64_t rows = k.unroll_rows ? s.kernel[1] + (k.share_rows ? (k.rows - 1) * s.stride[1] : 0) : 1;
    return k.unroll * columns * rows * tiles * tile;
}

bool shuffles_in_place(const TileFacts &f, const RegisterTile &tile) {
    return f.spreads_densely(tile.vectors) && f.shape.input_channels <= 4 && f.shape.group_outputs() <= 4;
}

bool keeps_spread_inputs(const TileFacts &f, const RegisterTile &tile) {
    if (tile.sums() == 1 || !(f.spreads() || f.holds_groups())) return true;
    // Dense vectors do so for all channels of a group, because the compiler loads each only once.
    const int64_t inputs = tile.vectors * f.shape.reach(tile.pixels, 0);
    return tile.sums() + inputs * (shuffles_in_place(f, tile) ? 2 : 1) <= f.registers;
}

namespace {

double activation_bytes(const ConvLoops &s) {
    const double input = double(s.groups) * s.input[0] * s.input[1] * s.input[2];
    const double output = double(s.output_channels) * s.output[0] * s.output[1] * s.output[2];
    return 4.0 * s.batch * (input + output);
}

// Cycles in which a depthwise tile waits for lines that the L1 cache does not have: those of all its rows, and of the
// columns that it shares with the next tile where all panels of a tile are more than the cache keeps.
double waiting_cycles(const TileFacts &f, const RegisterTile &tile) {
    const ConvLoops &s = f.shape;
    const double bytes = activation_bytes(s), rows = double(s.reach(tile.rows, 1));
    const double columns = double(s.reach(tile.pixels, 0)), pixel = 4.0 * s.groups;
    const bool stays = rows * columns * pixel <= f.core.l1_bytes / 2.0;
    const double lines = rows * (stays ? double(tile.pixels * s.stride[0]) : columns) * s.kernel[2];
    // Rows that are a multiple of a way apart share sets of the cache, and push each other out.
    const int64_t row = 4 * s.groups * s.input[0];
    const bool aliased = f.is_nhwc() && row % f.core.l1_set_stride() == 0 && s.reach(tile.rows, 1) >= f.core.l1_ways;
    const double for_line = (aliased ? 4 : 1) * (bytes <= f.core.l1_bytes ? 0 : bytes <= f.core.l2_bytes ? 0.5 : 1);
    return lines * for_line * double(tile.vectors) * f.lanes * 4 / double(f.core.line_bytes);
}

}  // namespace

bool streams_depthwise(const TileFacts &f) {
    return f.writes_out_sums() && f.is_nhwc() && f.shape.taps() <= 9 && f.shape.groups * 4 >= 4 * f.core.line_bytes &&
           f.core.l3_bytes && activation_bytes(f.shape) > f.core.l3_bytes / 2.0;
}

// Multiply-adds dominate; loads compete with them a little; weights come from L2 when a panel does not stay in L1; few
// independent sums leave the multipliers waiting for results.
double tile_cost(const TileFacts &f, const RegisterTile &tile) {
    const ConvLoops &s = f.shape;
    const double sums = tile.sums(), pixels = double(tile.pixels) * tile.rows;
    const double tiles = double(f.panels(tile.vectors)) * f.x_tiles(tile.pixels) * ceil_div(s.output[1], tile.rows);
    if (f.depthwise()) {
        // Inputs of a tile are loaded once for all its outputs, weights once a tile.
        const double input_loads = double(s.reach(tile.pixels, 0)) * s.reach(tile.rows, 1) * s.kernel[2];
        // Pixels lie channels apart: where that is a multiple of many cache lines, they crowd into few sets of the L1
        // cache.
        const int64_t apart = std::max<int64_t>(1, s.groups * 4 / f.core.line_bytes);
        const int64_t sets = f.core.l1_sets / std::gcd(f.core.l1_sets, apart);
        const bool crowded = input_loads > double(f.core.l1_ways * sets);
        const double loads = tile.vectors * (input_loads * (crowded ? 6 : 1) + s.taps());
        return tiles * (1 + 0.05 * double(tile.vectors)) *
               (std::max(sums * s.taps() / f.core.multiply_adds, loads / f.core.loads) + 0.25 * loads + sums + 4 +
                waiting_cycles(f, tile));
    }
    double inputs = pixels, products = sums;
    if (f.spreads() || f.holds_groups()) {
        // Lanes that need different inputs: a shuffle for each, on a port that multiplies too; the kernel's columns
        // share them. Single floats are more work than dense vectors: the rows of a tile share them too.
        const bool in_place = shuffles_in_place(f, tile), shared = f.spreads() && !in_place && f.shares_rows();
        const double rows = shared ? double(s.reach(tile.rows, 1)) / s.kernel[1] : double(tile.rows);
        inputs = double(tile.vectors) * rows * s.reach(tile.pixels, 0) / s.kernel[0];
        if (f.spreads()) products += inputs * (in_place ? 1 : 3);
    } else if (s.groups > 1 && !s.group_panels) {
        // A panel that reaches into another group needs other inputs there.
        const int64_t panel = tile.vectors * f.lanes, outputs = s.group_outputs();
        inputs *= double(panel) / outputs + (outputs % panel == 0 || panel % outputs == 0 ? 0 : 1);
        inputs = std::max(inputs, pixels);
    }
    const double loads = tile.vectors + inputs;
    const double panel_bytes = 4.0 * tile.vectors * f.lanes * s.input_channels * s.taps();
    const double weights = panel_bytes > f.core.l1_bytes / 2 ? tile.vectors * f.lanes * 4 / f.core.l2_bytes_a_cycle : 0;
    // Lanes that are not neighbours in memory are stored one by one.
    const bool scatters = s.output_block % f.lanes != 0 && s.output_block != s.output_channels;
    const double stores = sums * (scatters ? f.lanes : 1) / double(s.input_channels * s.taps());
    // Channels of a pixel become rows, an element at a time.
    const bool turns = f.x_lanes > 1 && s.input_block > 1;
    const double turned = turns ? double(s.output[0]) * s.output[1] * s.output[2] : 0;
    // Pixels that share a set of the L1 cache push each other out.
    const bool aliased = f.is_nhwc() && s.input_channels * s.groups * s.stride[0] * 4 % f.core.l1_set_stride() == 0 &&
                         tile.pixels > f.core.l1_ways;
    return tiles * (std::max({products / f.core.multiply_adds, loads / f.core.loads, double(f.core.latency)}) *
                        (aliased ? 1.3 : 1) +
                    0.1 * loads + 0.3 * weights + stores) +
           turned;
}

namespace {

// Largest value up to the wanted one; the smallest where there is none.
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

// The largest register tile that the domains have room for.
int64_t most_sums(const TileFacts &f, const CpuTileDomains &domains) {
    int64_t most = 1;
    for (int64_t v : domains.vectors) {
        for (int64_t p : domains.pixels) {
            for (int64_t r : domains.rows) {
                const RegisterTile tile{v, p, r};
                if (fits_registers(f, tile, false) && keeps_spread_inputs(f, tile)) most = std::max(most, tile.sums());
            }
        }
    }
    return most;
}

// Beyond it, a depthwise tile saves few loads more, and reads so many lines at once that prefetchers lose track.
constexpr int64_t most_depthwise_sums = 16;

RegisterTile cheapest_tile(const TileFacts &f, const CpuTileDomains &domains, bool inline_sum) {
    RegisterTile best;
    double least = 1e300;
    const int64_t fewest = inline_sum ? 1 : fewest_sums(f, domains);
    bool enough = false;  // sums to hide the latency; where no tile has them, the best of the others
    for (int64_t v : domains.vectors) {
        for (int64_t r : domains.rows) {
            for (int64_t p : domains.pixels) {
                const RegisterTile tile{v, p, r};
                if (!fits_registers(f, tile, inline_sum)) continue;
                if (tile.sums() < fewest || !keeps_spread_inputs(f, tile)) continue;
                if (f.depthwise() && tile.sums() > most_depthwise_sums) continue;
                const bool has_enough = tile.sums() >= f.core.latency_sums();
                const double cost = has_enough ? tile_cost(f, tile) : tile_cost(f, tile) / tile.sums();
                if ((has_enough && !enough) || (has_enough == enough && cost < least * 0.999)) {
                    least = cost, best = tile, enough = has_enough;
                }
            }
        }
    }
    return best;
}

// Threads share row blocks that are small enough for every thread to get some. Where there are too few rows they share
// panels.
void split_over_threads(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const int64_t images = f.shape.batch * f.shape.output[2];
    const int64_t y_tiles = ceil_div(f.shape.output[1], k->rows);
    if (images * y_tiles >= 2 * f.threads) {
        k->parallel = 1;
        const double share = std::max<double>(1, double(images * y_tiles) / f.threads);
        k->row_block = nearest(domains.row_block, std::min<double>(double(k->row_block), share));
    } else {
        k->parallel = 2;
        k->panel_block = nearest(domains.panel_block, double(ceil_div(f.panels(k->vectors), f.threads)));
    }
}

// How many tiles make a block of pixels.
void choose_blocks(const TileFacts &f, const TileCase &kind, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const ConvLoops &s = f.shape;
    const int64_t x_tiles = f.x_tiles(k->pixels), y_tiles = ceil_div(s.output[1], k->rows);
    const int64_t panels = f.panels(k->vectors);
    const auto block = [](const std::vector<int64_t> &values, int64_t tiles, double wanted) {
        return nearest(values, std::min<double>(double(tiles), wanted));
    };
    k->panel_block = block(domains.panel_block, panels, double(panels));
    if (kind.block == TileCase::Block::one_tile) {
        // Where channels lie in blocks, the next panel's input is far away: a panel walks over its plane in order.
        if (f.depthwise() && !f.is_nhwc() && !f.needs_copy()) k->panel_block = domains.panel_block.front();
        k->x_block = block(domains.x_block, 1, 1), k->row_block = block(domains.row_block, 1, 1);
        return;
    }
    // A block of pixels stays in a quarter of the L2 cache while the panels pass, beside the panel and the output.
    const double room = f.core.l2_bytes / 4.0;
    const double row_bytes = 4.0 * s.input_channels * s.input[0] * s.stride[1];
    const double tile_bytes = 4.0 * s.input_channels * s.stride[0] * k->pixels * f.x_lanes;
    k->row_block = block(domains.row_block, y_tiles, room / row_bytes / k->rows);
    k->x_block = block(domains.x_block, x_tiles, s.output[1] > 1 ? double(x_tiles) : room / tile_bytes);
}

// How the sum over kernel columns, rows and channels is written.
void choose_sum(const TileFacts &f, const TileCase &kind, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const ConvLoops &s = f.shape;
    // Neighbouring pixels share joined floats; unrolled beyond the stride, LLVM keeps them in registers and spills the
    // sums.
    k->join_columns = kind.sum == TileCase::Sum::joined_columns;
    k->unroll = k->join_columns
                    ? nearest_divisor(domains.unroll, s.input_channels * s.kernel[0],
                                      std::min(kind.unroll, s.stride[0] * s.input_channels))
                    : nearest_divisor(domains.unroll, s.input_channels, kind.unroll ? kind.unroll : s.input_channels);
    k->unroll_columns = kind.sum == TileCase::Sum::columns_unrolled ? domains.unroll_columns.back() : 0;
    k->spread = nearest(domains.spread, double(kind.spread));
    k->share_rows = k->unroll_rows = kind.share_rows && f.shares_rows() && k->rows > 1;
}

// Takes back unrolling that would be too much code.
void unroll_less(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const ConvLoops &s = f.shape;
    // Columns that are unrolled apart cannot be left out by the phases that do not have them.
    if (s.skips_missing_taps(k->vectors * f.lanes)) k->unroll_columns = k->unroll_tiles = 0;
    if (unrolled_steps(s, *k) > most_unrolled_steps(s)) k->unroll_tiles = 0;
    if (unrolled_steps(s, *k) > most_unrolled_steps(s)) k->unroll_columns = 0;
    // Only columns that are unrolled share what was spread.
    if (k->spread > 1 && s.kernel[0] > 1 && !k->unroll_columns)
        k->spread = nearest(domains.spread, f.spreads() ? 1 : 0);
    if (unrolled_steps(s, *k) > most_unrolled_steps(s)) k->unroll_rows = k->share_rows = 0;
    if (k->rows > 1 && !k->share_rows) k->skip_rows = 0;
}

}  // namespace

int64_t fewest_sums(const TileFacts &f, const CpuTileDomains &domains) {
    return std::min(f.core.latency_sums() * 3 / 4, most_sums(f, domains));
}

CpuTileKnobs default_tile_knobs(const TileFacts &f, const CpuTileDomains &domains) {
    const ConvLoops &s = f.shape;
    CpuTileKnobs k;
    const bool streams = streams_depthwise(f);
    k.inline_sum = f.sums_depthwise_rows() && !streams ? 0 : domains.inline_sum.back();
    const RegisterTile tile =
        streams ? RegisterTile{domains.vectors.front(), domains.pixels.front(), nearest(domains.rows, 4)}
                : cheapest_tile(f, domains, k.inline_sum);
    const TileCase &kind = tile_case(f, tile);
    k.vectors = tile.vectors, k.pixels = tile.pixels, k.rows = tile.rows;
    choose_blocks(f, kind, domains, &k);
    choose_sum(f, kind, domains, &k);

    // Where the tests for padding can fold away, they cost nothing; else a padded copy of the block is cheaper.
    const bool padded = std::count(domains.stage_input.begin(), domains.stage_input.end(), 1) > 0;
    const int64_t x_tiles = f.x_tiles(tile.pixels);
    const bool folds =
        s.groups == 1 && f.x_lanes == 1 && !k.join_columns && tile.rows == 1 && k.x_block == x_tiles && x_tiles <= 4;
    k.unroll_tiles = folds ? domains.unroll_tiles.back() : 0;
    const bool leaves_out = !k.inline_sum && !f.depthwise() && (tile.rows == 1 || k.share_rows);
    k.skip_rows = leaves_out ? domains.skip_rows.back() : 0;
    unroll_less(f, domains, &k);
    const bool wants_copy =  // conversions, the search for holes and for channels in blocks are done once for all taps
        s.converts || s.has_holes() || (f.spreads() && !f.is_nhwc()) ||
        (kind.copies_padding && !(folds && k.unroll_columns));
    const bool turns = f.x_lanes > 1 && s.input_block > 1;
    k.stage_input = s.folds() ? 1 : f.needs_copy() ? 2 : turns ? 4 : padded && wants_copy ? 1 : 0;

    const double input_bytes = 4.0 * s.all_input_channels() * s.input[0] * s.input[1] * s.batch;
    k.prefetch = !k.stage_input && input_bytes > double(f.core.l2_bytes) ? nearest(domains.prefetch, 1) : 0;

    k.parallel = domains.parallel.front();
    if (f.threads > 1) split_over_threads(f, domains, &k);
    return k;
}

}  // namespace kiln
