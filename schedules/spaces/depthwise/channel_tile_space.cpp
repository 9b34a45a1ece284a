#include "schedules/spaces/depthwise/channel_tile_space.h"

#include <algorithm>

#include "workload/division.h"

namespace kiln {
namespace {

struct Facts {
    ConvLoops loops;
    int lanes = 1, registers = 16;  // of the target
    Core core;
    int threads = 1;

    int64_t products(const ChannelTileKnobs &k) const {
        return k.pixels * k.rows * loops.kernel[0] * (shares_input_rows(loops, k) ? loops.kernel[1] : 1);
    }
};

ChannelTileDomains domains(const Facts &f) {
    const ConvLoops &s = f.loops;
    ChannelTileDomains d;
    d.pixels = up_to(std::min<int64_t>(s.output[0], 14));
    d.rows = s.dilation[1] == 1 ? up_to(std::min<int64_t>(s.output[1], 8)) : std::vector<int64_t>{1};
    if (f.threads > 1) d.parallel = {0, 1};
    return d;
}

std::vector<Limit<ChannelTileKnobs>> limits(const Facts &f) {
    using K = ChannelTileKnobs;
    return {
        {"the register tile needs more vector registers than the target has",
         [=](const K &k) { return k.pixels * k.rows + 4 <= f.registers; }},
        {"the unrolled reduction is too much code",
         [=](const K &k) { return f.products(k) <= most_channel_tile_products; }},
    };
}

// Estimated cycles in units that compare tiles: products, loads of inputs and weights, and what a tile begins with.
double tile_cost(const Facts &f, const ChannelTileKnobs &k) {
    const ConvLoops &s = f.loops;
    const double tiles = double(ceil_div(s.output[0], k.pixels)) * ceil_div(s.output[1], k.rows);
    const double outputs = double(k.pixels * k.rows), products = outputs * double(s.taps());
    const double rows = double(shares_input_rows(s, k) ? input_rows(f.loops, k.rows) : k.rows * s.kernel[1]);
    const double columns = std::min(double(s.reach(k.pixels, 0)), double(k.pixels * s.kernel[0]));
    // Weights that do not fit beside the sums are loaded for each product.
    const bool keeps = outputs + double(s.kernel[0] * s.kernel[1]) + 4 <= f.registers;
    const double loads = rows * columns * s.kernel[2] + (keeps ? double(s.taps()) : products);
    const double few = std::max(1.0, double(f.core.latency_sums()) / outputs / 2);
    return tiles * (std::max(products / f.core.multiply_adds * few, loads / f.core.loads) + 0.1 * loads + outputs + 6);
}

// Tiles of one row: the longest that share it evenly, up to half of the registers. Few columns are too few sums at a time, and take
// two rows, unless a stride keeps these apart.
ChannelTileKnobs even_tile(const Facts &f, const ChannelTileDomains &domains) {
    ChannelTileKnobs k;
    const int64_t tiles = ceil_div(f.loops.output[0], f.registers / 2);
    k.pixels = std::min(ceil_div(f.loops.output[0], tiles), domains.pixels.back());
    if (k.pixels <= 4 && f.loops.stride[1] == 1) k.rows = std::min<int64_t>(2, domains.rows.back());
    while (f.products(k) > most_channel_tile_products && k.pixels > 1) k.pixels--;
    k.parallel = domains.parallel.back();
    return k;
}

// Rows that a stride keeps apart share too little of the copy to pay for tiles that are more code.
ChannelTileKnobs cheapest_tile(const Facts &f, const ChannelTileDomains &domains) {
    const auto allowed = limits(f);
    ChannelTileKnobs k, best;
    k.rows = f.loops.stride[1] == 1 ? std::min<int64_t>(2, domains.rows.back()) : 1;
    k.parallel = domains.parallel.back();
    double least = 1e300;
    for (int64_t pixels : domains.pixels) {
        k.pixels = pixels;
        const bool holds =
            std::all_of(allowed.begin(), allowed.end(), [&](const auto &limit) { return limit.holds(k); });
        if (!holds) continue;
        const double cost = tile_cost(f, k);
        if (cost < least * 0.999) least = cost, best = k;
    }
    return best;
}

ChannelTileKnobs default_knobs(const Facts &f, const ChannelTileDomains &domains) {
    return f.registers < 32 ? even_tile(f, domains) : cheapest_tile(f, domains);
}

}  // namespace

ChannelsInMemory channels_in_memory(const StoredActivation &stored, int64_t lanes) {
    if (stored.block == stored.channels || stored.block % lanes == 0) return ChannelsInMemory::together;
    if (stored.block == 1) return ChannelsInMemory::apart;
    return lanes % stored.block == 0 ? ChannelsInMemory::in_pieces : ChannelsInMemory::mixed;
}

Space channel_tile_space(Candidate base, const ConvLoops &loops, const Target &target, const Core &core) {
    const Facts facts{loops, vector_lanes(target), vector_registers(target), core, target.threads};
    const ChannelTileDomains allowed = domains(facts);
    std::vector<Knob> knobs = knob_list(allowed);
    base.schedule = channel_tile_name;
    base.schedule_version = channel_tile_version;
    base.knobs = present(encode_knobs(default_knobs(facts, allowed)), knobs);
    return Space(std::move(base), std::move(knobs), {constraint(limits(facts))});
}

}  // namespace kiln
