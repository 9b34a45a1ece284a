#include "schedules/spaces/cpu_tile_space.h"

#include <algorithm>
#include <set>

#include "schedules/spaces/cpu_tile_rules.h"
#include "schedules/spaces/fetched_weights.h"
#include "workload/division.h"

namespace kiln {
namespace {

// Work done over work asked for when `extent` is covered by tiles of `tile`.
double waste(int64_t extent, int64_t tile) { return double(ceil_div(extent, tile) * tile) / extent; }

// Tile sizes up to `limit`, in units that divide no more than the extent, that waste little, and in any case the large one
// that wastes least.
std::vector<int64_t> tile_sizes(int64_t extent, int64_t limit, double tolerated, int64_t unit = 1) {
    const int64_t largest = std::min(extent / unit, limit);
    double least = 1e9;
    for (int64_t t = ceil_div(largest, 2); t <= largest; t++) least = std::min(least, waste(extent, t * unit));
    std::vector<int64_t> sizes;
    for (int64_t t = 1; t <= largest; t++) {
        if (waste(extent, t * unit) <= std::max(tolerated, least)) sizes.push_back(t);
    }
    return sizes;
}

// Sizes of blocks of tiles: those for tiles of one element, and the number of all tiles of each size, where it is small. Without it
// five tiles would be a block of four and one of one, and weights would pass twice.
std::vector<int64_t> tile_blocks(int64_t extent, const std::vector<int64_t> &tiles) {
    constexpr int64_t few = 32;
    const std::vector<int64_t> blocks = block_sizes(extent);
    std::set<int64_t> sizes(blocks.begin(), blocks.end());
    for (const int64_t tile : tiles) {
        if (const int64_t count = ceil_div(extent, tile); count <= few) sizes.insert(count);
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

// Whether some tap may read what is not stored, or not as it is summed: a copy saves work then. Where a plane of the result
// reads nothing but padding, Halide infers a negative size for the copy.
bool gains_by_copies(const TileFacts &f) {
    if (!f.needs_copy() && !f.gathers_parts() && !every_window_meets_planes(f.shape)) return false;
    return f.needs_copy() || f.shape.reads_outside(0) || f.shape.reads_outside(1) || f.shape.converts ||
           f.gathers_parts() || f.turns_input();
}

// A sliding copy (3) relies on blocks of rows coming one after the other, with all channels, and on rows that one
// shares with the next. A block of tiles in x (4) brings the channels of its pixels together.
std::vector<int64_t> stagings(const TileFacts &f) {
    const ConvLoops &s = f.shape;
    if (s.is_input_computed()) return {1, 4};
    std::vector<int64_t> values;
    if (!f.needs_copy() && !f.gathers_parts()) values.push_back(0);
    if (gains_by_copies(f)) {
        const bool slides = f.threads == 1 && s.groups == 1 && s.reach(1, 1) > s.stride[1] && s.input_phases == 1;
        values.insert(values.end(), {1, 2});
        if (slides && (!f.needs_copy() || s.folds())) values.push_back(3);
    }
    if (f.copies_blocks() || f.turns_input()) values.push_back(4);
    return values;
}

// The bytes of a result or an input that the smallest L2 caches may not keep. What a machine's own cache keeps decides the default
// alone.
constexpr double least_fetched_result = 256 << 10, least_fetched_input = 256 << 10;

// Of a register tile. A tile of one pixel has no other sums, and memory is faster where it reads several streams of weights.
int64_t most_vectors(const TileFacts &f) { return !f.reads_weights_once() ? 6 : f.lanes >= 8 ? 8 : 12; }

CpuTileDomains domains(const TileFacts &f) {
    const ConvLoops &s = f.shape;
    const std::vector<int64_t> choice{0, 1};
    const bool padded_x = s.reads_outside(0), padded_y = s.reads_outside(1), wide = s.kernel[0] > 1;
    CpuTileDomains d;  // what does not apply stays 0
    d.vectors = tile_sizes(f.channel_vectors(), f.x_lanes > 1 ? f.registers - 8 : most_vectors(f), 1.2);
    // With weights that have a zero point, the sums of a vector that the last panel lacks came out in place of those of the
    // panel before it. The cause is not known; without such vectors the kernels are right.
    if (s.padding_counts && s.groups > 1)
        std::erase_if(d.vectors, [&](int64_t vectors) { return f.channel_vectors() % vectors != 0; });
    d.pixels = tile_sizes(s.output[0], f.registers - 4, 1.25, f.x_lanes);
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
    if (padded_x && f.x_lanes == 1) d.unroll_tiles = choice;
    // Bounds of what groups read must be constants. On phases of the input, loops that skip hide them. Padding that counts is
    // left out of steps of several channels, whose sums begin with what is missing.
    const bool can_skip =
        s.padding_counts ? s.groups == 1 && s.parts > 1 && !s.has_holes() : s.groups == 1 || s.input_phases == 1;
    if (padded_y && can_skip) d.skip_rows = choice;
    d.stage_input = stagings(f);
    if (f.threads > 1) d.parallel = {1};
    if (f.threads > 1 && !s.is_input_computed()) d.parallel.push_back(2);  // it is computed once for all panels
    if (f.threads > 1 && f.x_tiles(1) > 1) d.parallel.push_back(3);
    // Blocks depend on the tile; these domains cover the smallest one, limits refuse what is too large.
    d.row_block = tile_blocks(s.output[1], d.rows);
    d.x_block = tile_blocks(f.x_tiles(1), d.pixels);
    if (!s.is_input_computed()) d.panel_block = tile_blocks(f.panels(1), d.vectors);
    if (s.is_input_computed()) d.depthwise_rows = d.depthwise_pixels = {1, 2, 4};
    if ((f.reads_stretches() && s.parts == 1) || f.depthwise()) d.prefetch = {0, 1, 2};
    if (f.reads_one_stretch() && f.input_bytes() > least_fetched_input) d.fetch_blocks = choice;
    if (s.groups == 1 && f.lanes > 1 && f.x_lanes == 1 && f.weight_bytes() >= least_fetched_weights)
        d.fetch_weights = fetched_kilobytes, d.fetch_panels = choice;
    if (f.reads_weights_once()) d.streams = choice;
    if (f.ends_in_part()) d.masked = choice;
    if ((padded_x || padded_y) && !s.folds()) d.partition = choice;
    if ((f.stores_evenly() || f.stores_depthwise_evenly()) && f.result_bytes() > least_fetched_result)
        d.fetch_result = {0, 1, 2};
    if (f.turns_input()) d.turned = s.taps() == 1 ? choice : std::vector<int64_t>{1};
    return d;
}

// What is spread over lanes element by element has an element of its own for each lane, pixel and channel of an unrolled step. Halide
// takes a second for some 180 vectors, and more than a minute for 360.
constexpr int64_t most_spread_vectors = 256;

int64_t spread_vectors(const ConvLoops &s, const CpuTileKnobs &k) {
    const bool is_by_element = k.spread == 1 || k.spread == 2;
    return is_by_element ? register_tile(k).sums() * k.unroll * (k.unroll_columns ? s.kernel[0] : 1) : 0;
}

std::vector<Limit<CpuTileKnobs>> limits(const TileFacts &f, const CpuTileDomains &domains,
                                        const CpuTileKnobs &standard) {
    using K = CpuTileKnobs;
    const ConvLoops &s = f.shape;
    const int64_t fewest = fewest_sums(f, domains);
    return {
        {"the register tile needs more vector registers than the target has",
         [=](const K &k) { return fits_registers(f, register_tile(k), k.inline_sum); }},
        {"panels of sums begin in one block of the output's channels and end in another",
         [=](const K &k) { return k.inline_sum || f.panels_fill_blocks(k.vectors); }},
        {"too few sums to hide the latency of a multiply-add",
         [=](const K &k) { return k.inline_sum || register_tile(k).sums() >= fewest; }},
        {"row_block is larger than the number of rows of tiles",
         [=](const K &k) { return k.row_block <= ceil_div(s.output[1], k.rows); }},
        {"x_block is larger than the number of tiles in x",
         [=](const K &k) { return k.x_block <= f.x_tiles(k.pixels); }},
        {"panel_block is larger than the number of panels",
         [=](const K &k) { return k.panel_block <= f.panels(k.vectors); }},
        {"a depthwise block of tiles that is fetched ahead is the next of the same thread",
         [=](const K &k) { return !k.prefetch || s.groups == 1 || k.parallel != 3; }},
        {"threads would compute the same pixels",
         [=](const K &k) { return k.parallel != 3 || blocks_are_apart(f, k.pixels, k.x_block); }},
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
        {"vectors along x read neighbours: rows as they lie, without padding, or a copy",
         [=](const K &k) { return f.x_lanes == 1 || k.stage_input || (s.input_block == 1 && !s.reads_outside(0)); }},
        {"inputs that are spread over lanes in an unrolled step are too much code",
         [=, most = std::max(most_spread_vectors, spread_vectors(s, standard))](const K &k) {
             return spread_vectors(s, k) <= most;
         }},
        {"what is turned is a copy", [](const K &k) { return !k.turned || k.stage_input; }},
        {"a depthwise tile has more sums than half of the vector registers",
         [=](const K &k) { return k.depthwise_rows * k.depthwise_pixels <= f.registers / 2; }},
        {"a depthwise tile has more rows than the block",
         [=](const K &k) { return k.depthwise_rows <= k.rows * k.row_block; }},
        {"input that is copied first is not fetched ahead", [](const K &k) { return !k.prefetch || !k.stage_input; }},
        {"weights are fetched by kilobytes or by panels",
         [](const K &k) { return !k.fetch_weights || !k.fetch_panels; }},
        {"a panel that one tile of a block reads is not fetched by several",
         [=](const K &k) { return !k.fetch_panels || shares_panels(f, k); }},
        {"blocks of the input are fetched by tiles or by panels",
         [](const K &k) { return !k.fetch_blocks || !k.prefetch; }},
        {"a block of the input that one panel reads, or that no block follows, is not fetched by several",
         [=](const K &k) { return !k.fetch_blocks || shares_blocks(f, k); }},
        {"a panel of several streams of weights has whole ones",
         [=](const K &k) { return !k.streams || has_streams(f, k.vectors); }},
        {"the unrolled reduction is too much code", [=](const K &k) { return !is_too_much_code(s, k); }},
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
// side by side. Quarters are slower than whole vectors of which a mask leaves out some. So are halves where the products of
// many taps decide; where loads and stores decide, halves are as fast.
Widths widths_of_depthwise(const ConvLoops &s, const Target &target, const Core &core) {
    constexpr int64_t few_taps = 9;
    const int whole = vector_lanes(target);
    const bool products_decide = s.taps() > few_taps && s.groups > whole && !core.half_vectors_as_fast;
    const auto fits = [&](int64_t lanes) {
        const bool in = s.input_block == s.image_channels || s.input_block == 1 || s.input_block % lanes == 0;
        const bool out = s.output_block == s.output_channels || s.output_block == 1 || s.output_block % lanes == 0;
        return in && out && s.stored_channels() % lanes == 0;
    };
    const bool has_masks = whole >= 16 && tile_facts(s, whole, target, core).ends_in_part();
    for (int64_t lanes = whole; lanes >= 4; lanes /= 2) {
        if (!fits(lanes)) continue;
        if (lanes == whole) return {{0}};
        const bool masks_are_faster = has_masks && (4 * lanes <= whole || products_decide);
        return masks_are_faster ? Widths{{0, lanes}} : Widths{{lanes, 0}};
    }
    return {{0}};
}

// Half vectors where they leave fewer lanes without an output, by a share that counts.
bool halves_waste_less(const ConvLoops &s, int half) {
    const int64_t halves = ceil_div(s.group_outputs(), half);
    return half >= 8 && halves % 2 == 1 && halves < 32;
}

// Whether channels side by side are turned for the sums of few outputs, whose vectors of channels would be half empty or more. Where
// there is one tap, the turning takes longer than the sums.
bool turns_for_few_outputs(const ConvLoops &s, int whole) {
    const bool is_side_by_side = s.input_block == s.image_channels && s.input_block > 1 && !s.is_input_computed();
    const bool stores_any = s.output_block == 1 || s.output_block == s.output_channels;
    return is_side_by_side && stores_any && s.parts == 1 && s.taps() > 1 && 2 * s.output_channels <= whole;
}

// Vectors of pixels where the result has those of a row side by side, and the input or a copy of it, too. A single channel of floats
// would leave all other lanes of a vector empty.
bool lies_along_x(const ConvLoops &s, int whole) {
    const bool is_nchw = !s.is_input_computed() && s.output_block == 1 && (s.output_channels > 1 || s.parts == 1) &&
                         (s.input_block == 1 || s.taps() == 1);
    const bool is_plain =
        s.groups == 1 && s.phases == 1 && s.input_phases == 1 && !s.has_holes() && !s.folds() && !s.padding_counts;
    return (is_nchw || turns_for_few_outputs(s, whole)) && is_plain && !s.scatters() && whole >= 4 &&
           s.stride[0] == 1 && s.output[0] >= whole;
}

Widths widths_of(const ConvLoops &s, const Target &target, const Core &core) {
    const int whole = vector_lanes(target), half = whole / 2;
    if (s.groups > 1 && s.input_channels == 1) return widths_of_depthwise(s, target, core);
    // Halves of a block of channels are stored in pieces.
    const bool stored_in_halves = s.output_block == s.output_channels || half % s.output_block == 0;
    const bool mixes_groups = s.groups > 1 && s.group_outputs() % whole != 0;
    if (mixes_groups && half >= 4 && stored_in_halves && s.group_outputs() % half == 0) {
        return widths_of_mixed_groups(whole, core);
    }
    Widths widths{{0}};
    const bool is_block = half >= 8 && s.output_block == half && s.output_channels > half;
    if (s.groups == 1 && stored_in_halves && (halves_waste_less(s, half) || is_block)) widths.lanes.push_back(half);
    if (lies_along_x(s, whole)) widths.lanes.push_back(1);
    return widths;
}

// A vector's products beside those of a vector of half as many lanes.
double vector_cost(int64_t lanes, const Core &core) { return lanes <= 1 && core.half_vectors_as_fast ? 2 : 1; }

// Knobs that candidates were recorded without.
bool came_later(const std::string &name, const ConvLoops &s) {
    const bool had_copies = s.groups > 1 || s.folds() || s.reads_outside(0) || s.reads_outside(1) || s.converts;
    if (name == knob_name(&CpuTileKnobs::stage_input)) return !had_copies;
    if (name == knob_name(&CpuTileKnobs::skip_rows)) return s.padding_counts;
    return name == knob_name(&CpuTileKnobs::lanes) || name == knob_name(&CpuTileKnobs::prefetch) ||
           name == knob_name(&CpuTileKnobs::fetch_weights) || name == knob_name(&CpuTileKnobs::fetch_panels) ||
           name == knob_name(&CpuTileKnobs::fetch_blocks) || name == knob_name(&CpuTileKnobs::streams) ||
           name == knob_name(&CpuTileKnobs::partition) || name == knob_name(&CpuTileKnobs::masked) ||
           name == knob_name(&CpuTileKnobs::turned) || name == knob_name(&CpuTileKnobs::fetch_result) ||
           name == knob_name(&CpuTileKnobs::depthwise_rows) || name == knob_name(&CpuTileKnobs::depthwise_pixels);
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
    double least = 0;
    for (int64_t lanes : widths.lanes) {
        const int of_vector = lanes ? static_cast<int>(lanes) : vector_lanes(target);
        const TileFacts facts = tile_facts(shape, of_vector, target, core);
        const CpuTileDomains allowed = domains(facts);
        CpuTileKnobs knobs = default_tile_knobs(facts, allowed);
        const double cost = tile_cost(facts, register_tile(knobs)) * vector_cost(lanes, core);
        if (alternatives.empty() || (shape.groups == 1 && cost < least)) {
            least = cost, standard = knobs, standard.lanes = has_choice ? lanes : 0;
        }
        Knobs chosen;
        if (has_choice) chosen = {{knob_name(&CpuTileKnobs::lanes), lanes}};
        alternatives.push_back({std::move(chosen), knob_list(allowed), {constraint(limits(facts, allowed, knobs))}});
    }
    auto [knobs, constraints] = join_alternatives(std::move(alternatives));
    for (Knob &knob : knobs) knob.zero_left_out = came_later(knob.name, shape) && knob.values.front() == 0;
    base.schedule = cpu_tile_name;
    base.schedule_version = cpu_tile_version;
    base.knobs = present(encode_knobs(standard), knobs);
    return Space(std::move(base), std::move(knobs), std::move(constraints));
}

}  // namespace kiln
