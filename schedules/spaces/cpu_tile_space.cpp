#include "schedules/spaces/cpu_tile_space.h"

#include <algorithm>
#include <set>

#include "schedules/spaces/cpu_tile_rules.h"
#include "workload/division.h"

namespace kiln {
namespace {

// Work done over work asked for when `extent` is covered by tiles of `tile`.
double waste(int64_t extent, int64_t tile) { return double(ceil_div(extent, tile) * tile) / extent; }

// Tile sizes up to `limit` that waste little, and in any case the large one that wastes least.
std::vector<int64_t> tile_sizes(int64_t extent, int64_t limit, double tolerated) {
    const int64_t largest = std::min(extent, limit);
    double least = 1e9;
    for (int64_t t = ceil_div(largest, 2); t <= largest; t++) least = std::min(least, waste(extent, t));
    std::vector<int64_t> sizes;
    for (int64_t t = 1; t <= largest; t++) {
        if (waste(extent, t) <= std::max(tolerated, least)) sizes.push_back(t);
    }
    return sizes;
}

// How many tiles make a block: 1, 2, 4, ..., the divisors of `count`, and `count` itself.
std::vector<int64_t> block_sizes(int64_t count) {
    std::set<int64_t> sizes{count};
    for (int64_t b = 1; b < count; b *= 2) sizes.insert(b);
    for (int64_t b = 1; b <= std::min<int64_t>(count, 64); b++) {
        if (count % b == 0) sizes.insert(b);
    }
    return {sizes.begin(), sizes.end()};
}

// Divisors up to most_unrolled_channels of the innermost loop's length, with and without the columns joined to the
// channels.
std::vector<int64_t> unroll_sizes(const ConvLoops &s) {
    std::set<int64_t> sizes;
    for (int64_t length : {s.input_channels, s.input_channels * s.kernel[0]}) {
        for (int64_t d = 1; d <= std::min(length, most_unrolled_channels); d++) {
            if (length % d == 0) sizes.insert(d);
        }
    }
    return {sizes.begin(), sizes.end()};
}

// A sliding copy (3) relies on blocks of rows coming one after the other, with all channels, and on rows that one
// shares with the next.
std::vector<int64_t> stagings(const TileFacts &f) {
    const ConvLoops &s = f.shape;
    const bool slides = f.threads == 1 && s.groups == 1 && s.reach(1, 1) > s.stride[1] && s.input_phases == 1;
    std::vector<int64_t> values{1, 2};
    if (!f.needs_copy()) values.insert(values.begin(), 0);
    if (slides && (!f.needs_copy() || s.folds())) values.push_back(3);
    return values;
}

CpuTileDomains domains(const TileFacts &f) {
    const ConvLoops &s = f.shape;
    const std::vector<int64_t> choice{0, 1};
    const bool padded_x = s.reads_outside(0), padded_y = s.reads_outside(1), wide = s.kernel[0] > 1;
    CpuTileDomains d;  // what does not apply stays 0
    d.vectors = tile_sizes(f.channel_vectors(), 6, 1.2);
    d.pixels = tile_sizes(s.output[0], f.registers - 4, 1.25);
    d.rows = tile_sizes(s.output[1], f.depthwise() ? 8 : 4, 1.0);
    if (f.writes_out_sums()) d.inline_sum = choice;
    if (f.spreads()) d.spread.push_back(1);
    if ((f.spreads() || f.holds_groups()) && wide) d.spread.push_back(2);
    if (f.spreads_densely(1)) d.spread.push_back(3);
    if (f.shares_rows()) d.share_rows = choice;
    if (s.kernel[1] > 1) d.unroll_rows = choice;
    if (f.joins_columns()) d.join_columns = choice;
    d.unroll = unroll_sizes(s);
    if (wide) d.unroll_columns = choice;
    if (padded_x) d.unroll_tiles = choice;
    // Bounds of what groups read must be constants. On phases of the input, loops that skip hide them.
    if (padded_y && (s.groups == 1 || s.input_phases == 1)) d.skip_rows = choice;
    if (f.needs_copy() || padded_x || padded_y || s.converts) d.stage_input = stagings(f);
    if (f.threads > 1) d.parallel = {1, 2};
    // Blocks depend on the tile; these domains cover the smallest one, limits refuse what is too large.
    d.row_block = block_sizes(s.output[1]);
    d.x_block = block_sizes(s.output[0]);
    d.panel_block = block_sizes(f.panels(1));
    return d;
}

std::vector<Limit<CpuTileKnobs>> limits(const TileFacts &f, const CpuTileDomains &domains) {
    using K = CpuTileKnobs;
    const ConvLoops &s = f.shape;
    const int64_t fewest = fewest_sums(f, domains);
    return {
        {"the register tile needs more vector registers than the target has",
         [=](const K &k) { return fits_registers(f, register_tile(k), k.inline_sum); }},
        {"too few sums to hide the latency of a multiply-add",
         [=](const K &k) { return k.inline_sum || register_tile(k).sums() >= fewest; }},
        {"row_block is larger than the number of rows of tiles",
         [=](const K &k) { return k.row_block <= ceil_div(s.output[1], k.rows); }},
        {"x_block is larger than the number of tiles in x",
         [=](const K &k) { return k.x_block <= ceil_div(s.output[0], k.pixels); }},
        {"panel_block is larger than the number of panels",
         [=](const K &k) { return k.panel_block <= f.panels(k.vectors); }},
        {"unrolled x tiles are too much code", [](const K &k) { return !k.unroll_tiles || k.x_block <= 4; }},
        {"unroll does not divide the innermost loop",
         [=](const K &k) { return s.input_channels * (k.join_columns ? s.kernel[0] : 1) % k.unroll == 0; }},
        {"joined columns cannot be unrolled apart",
         [](const K &k) { return !k.join_columns || (!k.unroll_columns && !k.unroll_tiles); }},
        {"share_rows needs tiles of several rows, and unrolled kernel rows",
         [](const K &k) { return !k.share_rows || (k.rows > 1 && k.unroll_rows); }},
        {"columns that share spread inputs are unrolled",
         [=](const K &k) { return k.spread < 2 || s.kernel[0] == 1 || k.unroll_columns; }},
        {"dense vectors cover whole groups and whole vectors of outputs, and `unroll` a whole group",
         [=](const K &k) { return k.spread != 3 || (f.spreads_densely(k.vectors) && k.unroll == s.input_channels); }},
        {"skip_rows needs tiles of one row or shared rows",
         [](const K &k) { return !k.skip_rows || k.rows == 1 || k.share_rows; }},
        {"skipped rows cannot be unrolled apart",
         [](const K &k) { return !k.skip_rows || !k.unroll_rows || k.share_rows; }},
        {"a sum that is written out has no loops to unroll, share, spread or skip",
         [](const K &k) {
             return !k.inline_sum ||
                    (k.unroll == 1 && !k.unroll_columns && !k.unroll_rows && !k.share_rows && !k.skip_rows);
         }},
        {"the unrolled reduction is too much code",
         [=](const K &k) { return unrolled_steps(s, k) <= most_unrolled_steps(s); }},
    };
}

// The widths of vectors that are worth a try, the one to use untuned first; 0 stands for the target's.
struct Widths {
    std::vector<int64_t> lanes;
    bool whole_is_written = false;  // in candidates, as a number of lanes
};

// Half vectors where they hold whole groups and the target's do not.
Widths widths_of_mixed_groups(int whole, const Core &core) {
    const int half = whole / 2;
    if (core.half_vectors_as_fast) return {{half, whole}, true};
    return {{whole, half}, true};
}

// Narrower vectors where they divide the channels, and blocks of them, and wider ones do not: what they load and store lies
// side by side.
Widths widths_of_depthwise(const ConvLoops &s, int whole) {
    const auto fits = [&](int64_t lanes) {
        const bool in = s.input_block == s.image_channels || s.input_block == 1 || s.input_block % lanes == 0;
        const bool out = s.output_block == s.output_channels || s.output_block == 1 || s.output_block % lanes == 0;
        return in && out && s.stored_channels() % lanes == 0;
    };
    for (int64_t lanes = whole; lanes >= 4; lanes /= 2) {
        if (fits(lanes)) return lanes == whole ? Widths{{0}} : Widths{{lanes, 0}};
    }
    return {{0}};
}

Widths widths_of(const ConvLoops &s, const Target &target, const Core &core) {
    const int whole = vector_lanes(target), half = whole / 2;
    if (s.groups > 1 && s.input_channels == 1) return widths_of_depthwise(s, whole);
    const bool mixes_groups = s.groups > 1 && s.group_outputs() % whole != 0;
    // Halves of a block of channels are stored in pieces.
    const bool stored_in_halves = s.output_block == s.output_channels || half % s.output_block == 0;
    if (!mixes_groups || half < 4 || s.group_outputs() % half != 0 || !stored_in_halves) return {{0}};
    return widths_of_mixed_groups(whole, core);
}

}  // namespace

int tile_lanes(const CpuTileKnobs &knobs, const Target &target) {
    return knobs.lanes ? static_cast<int>(knobs.lanes) : vector_lanes(target);
}

Space cpu_tile_space(Candidate base, const ConvLoops &shape, const Target &target, const Core &core) {
    const Widths widths = widths_of(shape, target, core);
    const bool has_choice = widths.lanes.size() > 1;
    std::vector<Alternative> alternatives;
    CpuTileKnobs standard;
    for (int64_t lanes : widths.lanes) {
        const int of_vector = lanes ? static_cast<int>(lanes) : vector_lanes(target);
        const TileFacts facts = tile_facts(shape, of_vector, target, core);
        const CpuTileDomains allowed = domains(facts);
        if (alternatives.empty()) standard = default_tile_knobs(facts, allowed);
        Knobs chosen;
        if (has_choice) chosen = {{knob_name(&CpuTileKnobs::lanes), lanes}};
        alternatives.push_back({std::move(chosen), knob_list(allowed), {constraint(limits(facts, allowed))}});
    }
    if (has_choice) standard.lanes = widths.lanes.front();
    auto [knobs, constraints] = join_alternatives(std::move(alternatives));
    // Candidates of depthwise convolutions were recorded without it.
    for (Knob &knob : knobs) {
        knob.zero_left_out = knob.name == knob_name(&CpuTileKnobs::lanes) && knob.values.front() == 0;
    }
    base.schedule = cpu_tile_name;
    base.schedule_version = cpu_tile_version;
    base.knobs = present(encode_knobs(standard), knobs);
    return Space(std::move(base), std::move(knobs), std::move(constraints));
}

}  // namespace kiln
