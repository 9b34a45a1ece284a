#include "schedules/spaces/cpu_tile_space.h"

#include <algorithm>
#include <set>

#include "schedules/spaces/cpu_tile_rules.h"

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
std::vector<int64_t> unroll_sizes(const ConvShape &s) {
    std::set<int64_t> sizes;
    for (int64_t length : {s.input_channels, s.input_channels * s.kernel[0]}) {
        for (int64_t d = 1; d <= std::min(length, most_unrolled_channels); d++) {
            if (length % d == 0) sizes.insert(d);
        }
    }
    return {sizes.begin(), sizes.end()};
}

std::vector<Knob> domains(const TileFacts &f) {
    const ConvShape &s = f.shape;
    const std::vector<int64_t> choice{0, 1}, off{0};
    const bool padded_x = s.reads_outside(0), padded_y = s.reads_outside(1), wide = s.kernel[0] > 1;
    // A sliding copy (3) relies on blocks of rows coming one after the other, with all channels, and on rows that one
    // shares with the next.
    const bool slides = f.threads == 1 && s.groups == 1 && s.reach(1, 1) > s.stride[1] && s.all_input_phases() == 1;
    const std::vector<int64_t> stagings = slides ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{0, 1, 2};
    std::vector<int64_t> spreads = off;
    if (f.spreads()) spreads.push_back(1);
    if ((f.spreads() || f.holds_groups()) && wide) spreads.push_back(2);
    if (f.spreads_densely(1)) spreads.push_back(3);
    return {
        {"vectors", tile_sizes(f.channel_vectors(), 6, 1.2)},
        {"pixels", tile_sizes(s.output[0], f.registers - 4, 1.25)},
        {"rows", tile_sizes(s.output[1], f.depthwise() ? 8 : 4, 1.0)},
        {"inline_sum", f.writes_out_sums() ? choice : off},
        {"spread", spreads},
        {"share_rows", f.shares_rows() ? choice : off},
        {"unroll_rows", s.kernel[1] > 1 ? choice : off},
        {"join_columns", f.joins_columns() ? choice : off},
        {"unroll", unroll_sizes(s)},
        {"unroll_columns", wide ? choice : off},
        {"unroll_tiles", padded_x ? choice : off},
        // On phases of the input, loops that skip hide the bounds of what groups read, which must be constants.
        {"skip_rows", padded_y && (s.groups == 1 || s.all_input_phases() == 1) ? choice : off},
        {"stage_input",
         f.needs_copy() ? std::vector<int64_t>(stagings.begin() + 1, s.folded ? stagings.end() : stagings.begin() + 3)
         : padded_x || padded_y || s.converts ? stagings
                                              : off},
        {"parallel", f.threads > 1 ? std::vector<int64_t>{1, 2} : off},
        // Blocks depend on the tile; these domains cover the smallest one, constraints refuse what is too large.
        {"row_block", block_sizes(s.output[1])},
        {"x_block", block_sizes(s.output[0])},
        {"panel_block", block_sizes(f.panels(1))},
    };
}

RegisterTile tile_of(const Knobs &k) { return {value_of(k, "vectors"), value_of(k, "pixels"), value_of(k, "rows")}; }

std::vector<Constraint> constraints(const TileFacts &f, const std::vector<Knob> &knobs) {
    const ConvShape &s = f.shape;
    const int64_t fewest = fewest_sums(f, knobs);
    auto at = [](const Knobs &k, const char *name) { return value_of(k, name); };
    return {
        {"the register tile needs more vector registers than the target has",
         [=](const Knobs &k) { return fits_registers(f, tile_of(k), at(k, "inline_sum")); }},
        {"too few sums to hide the latency of a multiply-add",
         [=](const Knobs &k) { return at(k, "inline_sum") || tile_of(k).sums() >= fewest; }},
        {"row_block is larger than the number of rows of tiles",
         [=](const Knobs &k) { return at(k, "row_block") <= ceil_div(s.output[1], at(k, "rows")); }},
        {"x_block is larger than the number of tiles in x",
         [=](const Knobs &k) { return at(k, "x_block") <= ceil_div(s.output[0], at(k, "pixels")); }},
        {"panel_block is larger than the number of panels",
         [=](const Knobs &k) { return at(k, "panel_block") <= f.panels(at(k, "vectors")); }},
        {"unrolled x tiles are too much code",
         [=](const Knobs &k) { return !at(k, "unroll_tiles") || at(k, "x_block") <= 4; }},
        {"unroll does not divide the innermost loop",
         [=](const Knobs &k) {
             return s.input_channels * (at(k, "join_columns") ? s.kernel[0] : 1) % at(k, "unroll") == 0;
         }},
        {"joined columns cannot be unrolled apart",
         [=](const Knobs &k) {
             return !at(k, "join_columns") || (!at(k, "unroll_columns") && !at(k, "unroll_tiles"));
         }},
        {"share_rows needs tiles of several rows, and unrolled kernel rows",
         [=](const Knobs &k) { return !at(k, "share_rows") || (at(k, "rows") > 1 && at(k, "unroll_rows")); }},
        {"columns that share spread inputs are unrolled",
         [=](const Knobs &k) { return at(k, "spread") < 2 || s.kernel[0] == 1 || at(k, "unroll_columns"); }},
        {"dense vectors cover whole groups and whole vectors of outputs, and `unroll` a whole group",
         [=](const Knobs &k) {
             return at(k, "spread") != 3 ||
                    (f.spreads_densely(at(k, "vectors")) && at(k, "unroll") == s.input_channels);
         }},
        {"skip_rows needs tiles of one row or shared rows",
         [=](const Knobs &k) { return !at(k, "skip_rows") || at(k, "rows") == 1 || at(k, "share_rows"); }},
        {"skipped rows cannot be unrolled apart",
         [=](const Knobs &k) { return !at(k, "skip_rows") || !at(k, "unroll_rows") || at(k, "share_rows"); }},
        {"a sum that is written out has no loops to unroll, share, spread or skip",
         [=](const Knobs &k) {
             return !at(k, "inline_sum") || (at(k, "unroll") == 1 && !at(k, "unroll_columns") &&
                                             !at(k, "unroll_rows") && !at(k, "share_rows") && !at(k, "skip_rows"));
         }},
        {"the unrolled reduction is too much code",
         [=](const Knobs &k) { return unrolled_steps(s, k) <= most_unrolled_steps(s); }},
    };
}

// Widths of vectors worth a try: half of the target's, too, where it divides the outputs of a group and the whole does
// not. The one to use untuned comes first.
std::vector<int> widths(const ConvShape &s, const Target &target) {
    const int whole = vector_lanes(target), half = whole / 2;
    const bool mixes_groups = s.groups > 1 && s.input_channels > 1 && s.group_outputs() % whole != 0;
    // Halves of a block of channels are stored in pieces.
    const bool stored_in_halves = s.output_block == s.output_channels || half % s.output_block == 0;
    if (!mixes_groups || half < 4 || s.group_outputs() % half != 0 || !stored_in_halves) return {whole};
    // This CPU starts two multiply-adds of 256 bits a cycle or one of 512.
    const bool half_is_as_fast = has_feature(target, "avx512_zen4") && !has_feature(target, "avx512_zen5");
    return half_is_as_fast ? std::vector<int>{half, whole} : std::vector<int>{whole, half};
}

}  // namespace

int vector_lanes(const Target &target) { return vector_bytes(target) / 4; }

int tile_lanes(const Candidate &candidate, const Target &target) {
    const int64_t lanes = candidate.knob("lanes");
    return lanes ? static_cast<int>(lanes) : vector_lanes(target);
}

Space cpu_tile_space(Candidate base, const ConvShape &shape, const Target &target, const Machine &machine) {
    base.schedule = cpu_tile_name;
    base.schedule_version = cpu_tile_version;
    const std::vector<int> possible = widths(shape, target);
    const auto chosen = [&](int lanes) { return possible.size() > 1 ? Knobs{{"lanes", lanes}} : Knobs(); };
    std::vector<Alternative> alternatives;
    for (int lanes : possible) {
        const TileFacts facts = tile_facts(shape, lanes, target, machine);
        std::vector<Knob> knobs = domains(facts);
        if (alternatives.empty()) base.knobs = default_tile_knobs(facts, knobs);
        std::vector<Constraint> limits = constraints(facts, knobs);
        alternatives.push_back({chosen(lanes), std::move(knobs), std::move(limits)});
    }
    base.knobs.merge(chosen(possible.front()));
    auto [knobs, limits] = join_alternatives(std::move(alternatives));
    drop_knobs_that_do_not_apply(&knobs, &base);
    return Space(std::move(base), std::move(knobs), std::move(limits));
}

}  // namespace kiln
