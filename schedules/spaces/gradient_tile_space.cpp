#include "schedules/spaces/gradient_tile_space.h"

#include <algorithm>
#include <set>

#include "schedules/spaces/cpu_tile_rules.h"
#include "schedules/spaces/cpu_tile_space.h"

namespace kiln {
namespace {

struct Tile {
    bool across = false;
    int64_t lanes = 1, vectors = 1, channels = 1, columns = 1;
    int64_t sums() const { return vectors * channels * columns; }
};

struct Facts {
    ConvShape shape;
    int lanes = 1, registers = 16;
    int64_t l2_bytes = 0;
    int threads = 1;

    bool fits(const Tile &t) const { return t.sums() + t.vectors + 1 <= registers; }
    bool exists(const Tile &t) const {
        const GradientSides sides = gradient_sides(shape, t.across);
        return t.vectors <= ceil_div(sides.lane_channels, t.lanes) && t.channels <= sides.tile_channels;
    }
    // Lanes of one vector need channels of the input that are not neighbours.
    bool gathers(const Tile &t) const {
        if (t.across || shape.groups == 1 || shape.group_outputs() % t.lanes == 0) return false;
        return shape.group_outputs() > 1 || shape.input_channels > 1;
    }
};

// Estimated cycles for one pixel in units that compare tiles, for a core that starts two multiply-adds and two loads a
// cycle.
double tile_cost(const Facts &f, const Tile &t) {
    const GradientSides sides = gradient_sides(f.shape, t.across);
    const double tiles = double(ceil_div(sides.lane_channels, t.vectors * t.lanes)) *
                         ceil_div(sides.tile_channels, t.channels) * ceil_div(f.shape.kernel[0], t.columns) *
                         f.shape.kernel[1] * f.shape.kernel[2];
    // x differs from column to column, dy does not: the one or the other is in the lanes.
    const int64_t outputs = f.shape.group_outputs();
    double vectors = t.vectors, scalars = double(t.channels) * t.columns;
    if (t.across) {
        const int64_t groups = f.shape.groups == 1 ? 1 : outputs % t.channels ? t.channels : 1;
        vectors *= t.columns * groups, scalars = t.channels;
    } else if (f.shape.groups > 1 && outputs < t.lanes) {
        scalars *= t.vectors;
    }
    const double loads = vectors + scalars * (f.gathers(t) ? t.lanes : 1);
    // Some CPUs do two operations of 256 bits in the time of one of 512.
    const double sums = t.sums() * (f.lanes == 16 && t.lanes < 16 ? 0.75 : 1);
    return tiles * (std::max({sums / 2, loads / 2, latency_sums / 2.0}) + 0.1 * loads);
}

std::vector<int64_t> up_to(int64_t last) {
    std::vector<int64_t> values;
    for (int64_t v = 1; v <= last; v++) values.push_back(v);
    return values;
}

std::vector<int64_t> row_blocks(int64_t rows) {
    std::set<int64_t> sizes{std::max<int64_t>(1, rows)};
    for (int64_t b = 1; b < rows; b *= 2) sizes.insert(b);
    for (int64_t shares = 2; shares <= 4 && rows > 1; shares++) sizes.insert(ceil_div(rows, shares));
    return {sizes.begin(), sizes.end()};
}

std::vector<Knob> domains(const Facts &f) {
    const ConvShape &s = f.shape;
    const int64_t most = std::max(s.output_channels, s.input_channels);
    std::vector<int64_t> lanes{f.lanes};  // narrow vectors are for few channels
    if (f.lanes > 4 && std::min(s.group_outputs(), s.input_channels) <= f.lanes / 2) lanes = {f.lanes / 2, f.lanes};
    return {{"across", {0, 1}},
            {"vectors", up_to(std::min<int64_t>(4, ceil_div(most, lanes.front())))},
            {"channels", up_to(std::min<int64_t>(most, f.registers - 2))},
            {"columns", up_to(std::min<int64_t>(s.kernel[0], f.registers - 2))},
            {"lanes", lanes},
            {"row_block", row_blocks(s.output[1])},
            {"parallel", f.threads > 1 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0}},
            {"partials", f.threads > 1 ? std::vector<int64_t>{0, f.threads, 2 * f.threads} : std::vector<int64_t>{0}}};
}

Tile tile_of(const Knobs &k) {
    return {value_of(k, "across") != 0, value_of(k, "lanes"), value_of(k, "vectors"), value_of(k, "channels"),
            value_of(k, "columns")};
}

Tile cheapest_tile(const Facts &f, const std::vector<Knob> &knobs) {
    Tile best;
    double least = 1e300;
    const auto consider = [&](const Tile &tile) {
        if (!f.fits(tile) || !f.exists(tile)) return;
        const double cost = tile_cost(f, tile);
        if (cost < least * 0.999) least = cost, best = tile;
    };
    for (int64_t across : {0, 1}) {
        for (int64_t lanes : domain_of(knobs, "lanes")) {
            for (int64_t vectors : domain_of(knobs, "vectors")) {
                for (int64_t channels : domain_of(knobs, "channels")) {
                    for (int64_t columns : domain_of(knobs, "columns")) {
                        consider({across != 0, lanes, vectors, channels, columns});
                    }
                }
            }
        }
    }
    return best;
}

Knobs default_knobs(const Facts &f, const std::vector<Knob> &knobs) {
    const ConvShape &s = f.shape;
    const Tile tile = cheapest_tile(f, knobs);
    Knobs k{{"across", tile.across},
            {"lanes", tile.lanes},
            {"vectors", tile.vectors},
            {"channels", tile.channels},
            {"columns", tile.columns}};
    // The rows of a block, of x and of dy, stay in the L2 cache while all taps pass.
    const double x_row = 4.0 * s.input[0] * s.stride[1] * s.all_input_channels();
    const double dy_row = 4.0 * s.output[0] * s.output_channels;
    k["row_block"] = 1;
    for (int64_t rows : domain_of(knobs, "row_block")) {
        if (rows * (x_row + dy_row) <= f.l2_bytes / 2.0) k["row_block"] = rows;
    }
    // Panels and kernel rows go round among threads without another pass; where they do not, partial sums do.
    const GradientSides sides = gradient_sides(s, tile.across);
    const int64_t tasks = ceil_div(sides.lane_channels, tile.vectors * tile.lanes) * s.kernel[1] * s.kernel[2];
    const bool go_round = tasks >= 4 * f.threads || tasks % f.threads == 0;
    k["parallel"] = f.threads > 1, k["partials"] = 0;
    for (int64_t rows : domain_of(knobs, "row_block")) {
        if (f.threads == 1 || go_round || rows > k["row_block"]) continue;
        if (gradient_shares(s, rows) < f.threads || gradient_shares(s, rows) % f.threads != 0) continue;
        k["row_block"] = rows, k["parallel"] = 0, k["partials"] = f.threads;
    }
    return k;
}

std::vector<Constraint> constraints(const Facts &f) {
    return {
        {"the register tile needs more vector registers than the target has",
         [=](const Knobs &k) { return f.fits(tile_of(k)); }},
        {"the register tile has more channels than there are", [=](const Knobs &k) { return f.exists(tile_of(k)); }},
        {"partial sums need an image or a block of rows each",
         [=](const Knobs &k) { return value_of(k, "partials") <= gradient_shares(f.shape, value_of(k, "row_block")); }},
        {"partial sums are what runs in parallel",
         [=](const Knobs &k) { return !value_of(k, "partials") || !value_of(k, "parallel"); }},
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

Space gradient_tile_space(Candidate base, const ConvShape &forward, const Target &target, const Machine &machine) {
    const Facts facts{forward, vector_lanes(target), vector_registers(target), machine.l2_bytes, target.threads};
    std::vector<Knob> knobs = domains(facts);
    base.schedule = gradient_tile_name;
    base.schedule_version = gradient_tile_version;
    base.knobs = default_knobs(facts, knobs);
    drop_knobs_that_do_not_apply(&knobs, &base);
    return Space(std::move(base), std::move(knobs), constraints(facts));
}

}  // namespace kiln
