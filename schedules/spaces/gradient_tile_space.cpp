#include "schedules/spaces/gradient_tile_space.h"

#include <algorithm>
#include <set>

#include "schedules/spaces/gradient_tile_knobs.h"
#include "workload/division.h"

namespace kiln {
namespace {

int64_t sums(const GradientTileKnobs &k) { return k.vectors * k.channels * k.columns; }

struct Facts {
    ConvShape shape;
    int lanes = 1, registers = 16;
    Core core;
    int threads = 1;

    bool fits(const GradientTileKnobs &k) const { return sums(k) + k.vectors + 1 <= registers; }
    bool exists(const GradientTileKnobs &k) const {
        const GradientSides sides = gradient_sides(shape, k.across);
        return k.vectors <= ceil_div(sides.lane_channels, k.lanes) && k.channels <= sides.tile_channels;
    }
    // Lanes of one vector need channels of the input that are not neighbours.
    bool gathers(const GradientTileKnobs &k) const {
        if (k.across || shape.groups == 1 || shape.group_outputs() % k.lanes == 0) return false;
        return shape.group_outputs() > 1 || shape.input_channels > 1;
    }
};

// Estimated cycles for one pixel in units that compare tiles.
double gradient_cost(const Facts &f, const GradientTileKnobs &t) {
    const GradientSides sides = gradient_sides(f.shape, t.across);
    const double tiles = double(ceil_div(sides.lane_channels, t.vectors * t.lanes)) *
                         ceil_div(sides.tile_channels, t.channels) * ceil_div(f.shape.kernel[0], t.columns) *
                         f.shape.kernel[1] * f.shape.kernel[2];
    // x differs from column to column and dy does not. One of them is in the lanes.
    const int64_t outputs = f.shape.group_outputs();
    double vectors = t.vectors, scalars = double(t.channels) * t.columns;
    if (t.across) {
        const int64_t groups = f.shape.groups == 1 ? 1 : outputs % t.channels ? t.channels : 1;
        vectors *= t.columns * groups, scalars = t.channels;
    } else if (f.shape.groups > 1 && outputs < t.lanes) {
        scalars *= t.vectors;
    }
    const double loads = vectors + scalars * (f.gathers(t) ? t.lanes : 1);
    const double products = double(sums(t)) * (f.lanes == 16 && t.lanes < 16 ? f.core.half_vector_cost : 1);
    return tiles *
           (std::max({products / f.core.multiply_adds, loads / f.core.loads, double(f.core.latency)}) + 0.1 * loads);
}

std::vector<int64_t> row_blocks(int64_t rows) {
    std::set<int64_t> sizes{std::max<int64_t>(1, rows)};
    for (int64_t b = 1; b < rows; b *= 2) sizes.insert(b);
    for (int64_t shares = 2; shares <= 4 && rows > 1; shares++) sizes.insert(ceil_div(rows, shares));
    return {sizes.begin(), sizes.end()};
}

GradientTileDomains domains(const Facts &f) {
    const ConvShape &s = f.shape;
    const int64_t most = std::max(s.output_channels, s.input_channels);
    GradientTileDomains d;  // what does not apply stays 0
    d.across = {0, 1};
    d.lanes = {f.lanes};  // narrow vectors are for few channels
    if (f.lanes > 4 && std::min(s.group_outputs(), s.input_channels) <= f.lanes / 2) d.lanes = {f.lanes / 2, f.lanes};
    d.vectors = up_to(std::min<int64_t>(4, ceil_div(most, d.lanes.front())));
    d.channels = up_to(std::min<int64_t>(most, f.registers - 2));
    d.columns = up_to(std::min<int64_t>(s.kernel[0], f.registers - 2));
    d.row_block = row_blocks(s.output[1]);
    if (f.threads > 1) d.parallel = {0, 1}, d.partials = {0, f.threads, 2 * f.threads};
    return d;
}

GradientTileKnobs cheapest_tile(const Facts &f, const GradientTileDomains &domains) {
    GradientTileKnobs best;
    double least = 1e300;
    const auto consider = [&](const GradientTileKnobs &tile) {
        if (!f.fits(tile) || !f.exists(tile)) return;
        const double cost = gradient_cost(f, tile);
        if (cost < least * 0.999) least = cost, best = tile;
    };
    GradientTileKnobs k;
    for (int64_t across : domains.across) {
        for (int64_t lanes : domains.lanes) {
            for (int64_t vectors : domains.vectors) {
                for (int64_t channels : domains.channels) {
                    for (int64_t columns : domains.columns) {
                        k.across = across, k.lanes = lanes, k.vectors = vectors;
                        k.channels = channels, k.columns = columns;
                        consider(k);
                    }
                }
            }
        }
    }
    return best;
}

GradientTileKnobs default_knobs(const Facts &f, const GradientTileDomains &domains) {
    const ConvShape &s = f.shape;
    GradientTileKnobs k = cheapest_tile(f, domains);
    // The rows of a block stay in the L2 cache while all taps pass, those of x and those of dy.
    const double x_row = 4.0 * s.input[0] * s.stride[1] * s.all_input_channels();
    const double dy_row = 4.0 * s.output[0] * s.output_channels;
    for (int64_t rows : domains.row_block) {
        if (rows * (x_row + dy_row) <= f.core.l2_bytes / 2.0) k.row_block = rows;
    }
    // Threads share panels and kernel rows, which needs no other pass. Where these are too few, threads have partial sums.
    const GradientSides sides = gradient_sides(s, k.across);
    const int64_t tasks = ceil_div(sides.lane_channels, k.vectors * k.lanes) * s.kernel[1] * s.kernel[2];
    const bool go_round = tasks >= 4 * f.threads || tasks % f.threads == 0;
    k.parallel = f.threads > 1;
    for (int64_t rows : domains.row_block) {
        if (f.threads == 1 || go_round || rows > k.row_block) continue;
        if (gradient_shares(s, rows) < f.threads || gradient_shares(s, rows) % f.threads != 0) continue;
        k.row_block = rows, k.parallel = 0, k.partials = f.threads;
    }
    return k;
}

std::vector<Limit<GradientTileKnobs>> limits(const Facts &f) {
    using K = GradientTileKnobs;
    return {
        {"the register tile needs more vector registers than the target has", [=](const K &k) { return f.fits(k); }},
        {"the register tile has more channels than there are", [=](const K &k) { return f.exists(k); }},
        {"partial sums need an image or a block of rows each",
         [=](const K &k) { return k.partials <= gradient_shares(f.shape, k.row_block); }},
        {"partial sums are what runs in parallel", [](const K &k) { return !k.partials || !k.parallel; }},
    };
}

}  // namespace

int64_t gradient_shares(const ConvShape &s, int64_t row_block) {
    return s.batch > 1 ? s.batch : ceil_div(s.output[1], row_block);
}

GradientSides gradient_sides(const ConvShape &s, bool across) {
    if (across) return {s.input_channels, s.output_channels};
    return {s.output_channels, s.input_channels};
}

Space gradient_tile_space(Candidate base, const ConvShape &forward, const Target &target, const Core &core) {
    const Facts facts{forward, vector_lanes(target), vector_registers(target), core, target.threads};
    const GradientTileDomains allowed = domains(facts);
    std::vector<Knob> knobs = knob_list(allowed);
    base.schedule = gradient_tile_name;
    base.schedule_version = gradient_tile_version;
    base.knobs = present(encode_knobs(default_knobs(facts, allowed)), knobs);
    return Space(std::move(base), std::move(knobs), {constraint(limits(facts))});
}

}  // namespace kiln
