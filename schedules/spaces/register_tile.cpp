// Which register tile a direct sum has untuned.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "schedules/spaces/cpu_tile_races.h"
#include "schedules/spaces/cpu_tile_rules.h"

namespace kiln {
namespace {

// The largest register tile that the domains have room for.
int64_t most_sums(const TileFacts &f, const CpuTileDomains &domains) {
    int64_t most = 1;
    for (int64_t v : domains.vectors) {
        for (int64_t p : domains.pixels) {
            for (int64_t r : domains.rows) {
                const RegisterTile tile{v, p, r};
                if (!f.panels_fill_blocks(v)) continue;
                if (fits_registers(f, tile, false) && keeps_spread_inputs(f, tile)) most = std::max(most, tile.sums());
            }
        }
    }
    return most;
}

// Beyond it, a depthwise tile saves few loads more, and reads so many lines at once that prefetchers lose track.
constexpr int64_t most_depthwise_sums = 16;

// Those of images beyond L2 with strides, on a core that streams short tiles: by races of eight layers on an Emerald Rapids, which take 0.89
// to 1.01 of the time. Smaller images lose.
int64_t most_sums_of_depthwise(const TileFacts &f) {
    const bool is_stream =
        f.core.streams_short_tiles && f.shape.stride[0] > 1 && f.input_bytes() > double(f.core.l2_bytes);
    return is_stream ? 8 : most_depthwise_sums;
}

// Sums of few dot products take about as long to requantize as to sum. A small tile's requantization runs beside the next
// tile's products, which are as far ahead as the processor looks. Its weights must stay in the L1 cache, as few pixels share a
// load. Short rows of pixels, where strides keep them apart, are divided by few such tiles. Cores that start two whole vectors of
// products a cycle need more sums than that to be busy.
constexpr int64_t most_requantized_sums = 6, most_requantized_steps = 64;

// A condition on register tiles.
using Suits = bool (*)(const TileFacts &, const RegisterTile &);

bool any_suits(const TileFacts &, const RegisterTile &) { return true; }

bool has_whole_streams(const TileFacts &f, const RegisterTile &tile) { return has_streams(f, tile.vectors); }

bool has_whole_tiles(const TileFacts &f, const RegisterTile &tile) {
    return f.shape.output[0] % (tile.pixels * f.x_lanes) == 0;
}

// What a last tile costs that is shifted inwards, by share. Where results of 1x1 sums are functions of several instructions, LLVM may
// keep the constants of these in registers then, and sums in memory: 30x30x192 to 384 with `gelu` or `silu` took 1.5 times as long on a
// Zen 4 with AVX-512. Other windows do not gain, and code for fewer registers is not measured.
double shifted_cost(const TileFacts &f, const RegisterTile &tile) {
    const bool is_long = f.shape.computes_results || f.shape.parts > 1;
    const bool fills_registers = f.registers >= 32 && 2 * tile.sums() > f.registers;
    return is_long && fills_registers && f.shape.taps() == 1 && !has_whole_tiles(f, tile) ? 1.05 : 1;
}

struct Wish {
    int64_t most_sums = std::numeric_limits<int64_t>::max();
    Suits suits = any_suits;
    bool hides_latency = true;  // rather than whichever costs least
};

// Nothing where no tile is as wished.
std::optional<RegisterTile> cheapest_tile_of(const TileFacts &f, const CpuTileDomains &domains, bool inline_sum,
                                             const Wish &wish) {
    std::optional<RegisterTile> best;
    double least = 1e300;
    const int64_t fewest = inline_sum ? 1 : fewest_sums(f, domains);
    bool enough = false;  // sums to hide the latency; where no tile has them, the best of the others
    for (int64_t v : domains.vectors) {
        for (int64_t r : domains.rows) {
            for (int64_t p : domains.pixels) {
                const RegisterTile tile{v, p, r};
                if (!fits_registers(f, tile, inline_sum) || !(inline_sum || f.panels_fill_blocks(v))) continue;
                if (tile.sums() < fewest || !keeps_spread_inputs(f, tile)) continue;
                if (tile.sums() > wish.most_sums) continue;
                if (!wish.suits(f, tile)) continue;
                const bool has_enough =
                    !wish.hides_latency || tile.sums() >= int64_t{f.core.multiply_adds} * f.latency();
                const double whole = tile_cost(f, tile) * shifted_cost(f, tile);
                const double cost = has_enough ? whole : whole / tile.sums();
                if ((has_enough && !enough) || (has_enough == enough && cost < least * 0.999)) {
                    least = cost, best = tile, enough = has_enough;
                }
            }
        }
    }
    return best;
}

// Products of i16 are added by an instruction of their own, and LLVM adds those of several steps to each other before they join the
// sums. With few registers, tiles of more sums than half of them are spilled.
bool keeps_products(const TileFacts &f) { return f.shape.parts == 2 && f.registers <= 16; }

}  // namespace

bool requantizes_often(const ConvLoops &s) {
    const bool has_long_rows = s.output[1] == 1 || s.taps() > 1;
    return s.parts == 4 && has_long_rows && s.input_channels * s.taps() <= most_requantized_steps;
}

int64_t fewest_sums(const TileFacts &f, const CpuTileDomains &domains) {
    return std::min(f.core.latency_sums() * 3 / 4, most_sums(f, domains));
}

RegisterTile cheapest_register_tile(const TileFacts &f, const CpuTileDomains &domains, bool inline_sum) {
    const auto cheapest = [&](const Wish &wish) { return cheapest_tile_of(f, domains, inline_sum, wish); };
    if (requantizes_often(f.shape) && f.core.vectors_a_cycle() * f.core.latency <= double(most_requantized_sums)) {
        const auto small = cheapest({.most_sums = most_requantized_sums});
        if (small && f.shape.adds_tensor && !has_whole_tiles(f, *small)) {
            // Tiles that are tested for the end of the row are not requantized stage by stage.
            constexpr int64_t most = most_requantized_sums + 2;
            if (const auto whole = cheapest({.most_sums = most, .suits = has_whole_tiles})) return *whole;
        }
        if (small) return *small;
    }
    if (f.reads_weights_once()) {
        if (const auto tile = cheapest({.suits = has_whole_streams})) return *tile;
    }
    constexpr int64_t most_streams = 14;
    Wish wish;
    if (f.depthwise()) {
        wish.most_sums = most_sums_of_depthwise(f);
    } else if (keeps_products(f)) {
        wish.most_sums = f.registers / 2;
    } else if (streams_to_one_vector(f)) {
        wish.most_sums = most_streams;
    }
    const auto tile = cheapest(wish);
    if (tile && f.has_raced_groups() && !keeps_to_groups(f, *tile)) {
        const auto of_groups =
            cheapest({.most_sums = wish.most_sums, .suits = keeps_to_groups, .hides_latency = false});
        if (of_groups && tile_cost(f, *of_groups) < tile_cost(f, *tile)) return *of_groups;
    }
    return tile ? *tile : cheapest({}).value_or(RegisterTile());
}

}  // namespace kiln
