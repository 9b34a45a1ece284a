#include "schedules/spaces/depthwise/row_tile_space.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "schedules/spaces/depthwise/tile_rows.h"
#include "workload/division.h"

namespace kiln {
namespace {

// 1, 2, 4, ... channels; those of whole vectors where they are stored side by side.
std::vector<int64_t> channel_blocks(const ConvLoops &s) {
    const int64_t channels = s.stored_channels();
    std::vector<int64_t> values;
    for (int64_t block = stores_columns(s) ? 1 : 8; block <= 64; block *= 2) {
        if (values.empty() || block < 2 * channels) values.push_back(block);
    }
    return values;
}

// The fewest channels that are copied by masks before their sums. Tiles turn whole vectors of channels. Rows of several
// channels are taken apart before the first is summed: what is read right after it was stored would be waited for.
int64_t least_masked_block(const ConvLoops &s, const RowTileKnobs &k) {
    int64_t least = s.stored_input.block == 1 && stores_columns(s) ? 1 : turned_tile_side;
    if (reads_planes(s, k)) least = std::max(least, int64_t(std::bit_ceil(uint64_t(2 * s.group_outputs()))));
    return least;
}

// Masked loads are of vectors of 8 floats and more. Of strides, all columns between are loaded.
bool can_be_masked(const ConvLoops &loops, int lanes) {
    return lanes >= turned_tile_side && loops.stride[0] <= 2 && !loops.converts;
}

struct Facts {
    ConvLoops loops;
    int lanes = 1, registers = 16;  // of the target
    Core core;
    int threads = 1;

    int64_t steps(const RowTileKnobs &k) const {
        return k.vectors * k.rows * loops.kernel[0] * (k.unroll_rows ? loops.kernel[1] : 1);
    }
    // Sums, an input and a weight.
    bool fits(const RowTileKnobs &k) const { return k.vectors * k.rows + 2 <= registers; }
    // Rows of a tile share input rows only where those are unrolled, and where they have rows in common.
    bool shares_rows() const { return loops.dilation[1] == 1; }
    bool may_be_masked() const {
        const auto turns = [](const StoredActivation &stored) {
            return stored.block == 1 || stored.block == stored.channels || stored.block % turned_tile_side == 0;
        };
        return channel_blocks(loops).back() >= least_masked_block(loops, {.masked = 1}) &&
               can_be_masked(loops, lanes) && turns(loops.stored_input) && turns(loops.stored_result);
    }
    bool reads_columns() const { return loops.stored_input.block == 1; }
    bool has_mask_registers() const { return lanes >= 2 * turned_tile_side; }
};

constexpr int64_t most_copied_vectors = 4;  // in a register tile that reads a copy

RowTileDomains domains(const Facts &f) {
    const ConvLoops &s = f.loops;
    RowTileDomains d;  // what does not apply stays 0
    d.lanes = {f.lanes};
    if (f.lanes >= 8) d.lanes.insert(d.lanes.begin(), f.lanes / 2);
    const bool in_registers = copies_to_registers(s, f.lanes), is_of_blocks = has_short_blocks(s, f.lanes);
    if (is_of_blocks) d.lanes = {f.lanes};
    const int64_t in_row = ceil_div(s.output[0], d.lanes.front() / (is_of_blocks ? s.stored_input.block : 1));
    d.vectors = up_to(std::clamp<int64_t>(in_row, 1, f.may_be_masked() || in_registers ? 8 : most_copied_vectors));
    d.rows = up_to(std::min<int64_t>(s.output[1], in_registers ? 16 : 8));
    if (s.kernel[1] > 1 && f.shares_rows()) d.unroll_rows = {0, 1};
    if (s.output[1] > 1) d.slide = {0, 1};
    if (in_registers) d.slide.push_back(2);
    if (in_registers && s.kernel[0] > 1 && s.kernel[1] > 1 && f.shares_rows()) d.by_columns = {0, 1};
    if (is_of_blocks) {
        d.slide = {2}, d.channel_block = {1};
        if (f.threads > 1) d.parallel = {0, 1};
        return d;
    }
    d.channel_block = channel_blocks(s);
    if (f.threads > 1) d.parallel = {0, 1};
    if (f.may_be_masked()) d.masked = {0, 1};
    if (f.may_be_masked() && f.reads_columns() && s.stride[0] > 1) d.masked = {0, 1, 2};
    if (f.may_be_masked() && !(f.reads_columns() && stores_columns(s))) d.by_rows = {0, 1};
    return d;
}

std::vector<Limit<RowTileKnobs>> limits(const Facts &f) {
    using K = RowTileKnobs;
    const int64_t width = f.loops.output[0];
    const bool in_columns = f.reads_columns() && stores_columns(f.loops), one_row = f.loops.kernel[1] == 1;

    return {
        {"the register tile needs more vector registers than the target has", [=](const K &k) { return f.fits(k); }},
        {"a row has fewer vectors",
         [=](const K &k) { return (k.vectors - 1) * columns_of_vector(f.loops, k) < width; }},
        {"the unrolled reduction is too much code", [=](const K &k) { return f.steps(k) <= most_row_tile_steps; }},
        {"the register tile of a copy is too wide",
         [](const K &k) { return k.masked || is_in_registers(k) || k.vectors <= most_copied_vectors; }},
        {"tiles of more than 8 rows are for rows in registers",
         [](const K &k) { return k.rows <= 8 || is_in_registers(k) || k.by_columns; }},
        {"rows in registers are of one channel, and unrolled, or one a tile",
         [=](const K &k) {
             return !is_in_registers(k) ||
                    (!k.masked && k.channel_block == 1 && (k.unroll_rows || k.rows == 1 || one_row));
         }},
        {"rows that are read as they lie are unrolled, or one a tile",
         [=](const K &k) { return !k.masked || k.unroll_rows || k.rows == 1 || one_row; }},
        {"rows that are read as they lie have no copy that slides",
         [=](const K &k) { return !k.masked || !k.slide || reads_planes(f.loops, k); }},
        {"rows that are read and stored as they lie have no blocks of channels",
         [=](const K &k) { return !k.masked || !in_columns || reads_planes(f.loops, k) || k.channel_block == 1; }},
        {"tiles of rows outside of channels are for rows that are read as they lie, and turned anew for each tile",
         [](const K &k) { return !k.by_rows || (k.masked && !k.slide); }},
        {"too few channels for their rows to be turned, or taken apart, together",
         [=](const K &k) { return !k.masked || k.channel_block >= least_masked_block(f.loops, k); }},
    };
}

// Cycles of a channel that masks take where vectors are their own masks: making them for the first and the last tile of a row,
// and stores; and those that a tile spills. The compiler keeps all weights beside the sums, and half of a row's inputs. Fitted to
// times of 20 layers with 8 to 32 tiles each, on Zen 3.
double masking_cycles(const Facts &f, const RowTileKnobs &k) {
    const ConvLoops &s = f.loops;
    const int64_t width = k.lanes * k.vectors, columns = s.output[0];
    const double of_column = double(ceil_div(s.output[1], k.rows)), tiles = of_column * ceil_div(columns, width);
    const double edges = of_column * std::min<double>(2, ceil_div(columns, width));
    const double stores = width > columns ? of_column * k.rows * k.vectors : 0;
    const double live = double(k.vectors * k.rows) + double(k.vectors * s.kernel[0]) / 2 + s.kernel[0] * s.kernel[1];
    return 10 * (edges + stores) + tiles * input_rows(f.loops, k.rows) * std::max(0.0, live - f.registers);
}

// Estimated cycles of a channel in units that compare tiles: multiply-adds, loads of inputs, most of which meet two cache
// lines, and of weights, and what a tile begins with.
double tile_cost(const Facts &f, const RowTileKnobs &k) {
    const ConvLoops &s = f.loops;
    const double tiles = double(ceil_div(s.output[0], k.lanes * k.vectors)) * ceil_div(s.output[1], k.rows);
    const double narrow = f.core.half_vectors_as_fast ? 0.5 : f.core.half_vector_cost;
    const double products = double(k.vectors) * k.rows * s.taps() * (k.lanes == f.lanes ? 1 : narrow);
    const double rows = k.unroll_rows ? input_rows(f.loops, k.rows) : double(k.rows) * s.kernel[1];
    // Where half vectors are as fast, a whole one is loaded as two. Three columns of taps wait for memory rather than for
    // loads.
    const bool is_two = k.masked && k.lanes == f.lanes && f.core.half_vectors_as_fast && s.kernel[0] > 3;
    const double lines = (1 + double(k.lanes) * 4 / f.core.line_bytes) * (is_two ? 2 : 1);
    const double loads = (double(k.vectors) * rows * lines + s.kernel[1]) * s.kernel[0] * s.kernel[2];
    const double few = std::max(1.0, double(f.core.latency_sums()) / double(k.vectors * k.rows) / 2);
    const double masking = k.masked && !f.has_mask_registers() ? masking_cycles(f, k) : 0;
    return tiles * (std::max(products / f.core.multiply_adds * few, loads / f.core.loads) + 0.1 * loads + 6) + masking;
}

// Channels that are copied together: those of a cache line, where one side has them side by side.
int64_t default_channel_block(const Facts &f, const RowTileDomains &domains) {
    const bool mixed = f.loops.stored_input.block != 1 || !stores_columns(f.loops);
    int64_t best = domains.channel_block.front();
    for (int64_t block : domains.channel_block) {
        if (mixed && block <= 16) best = block;
    }
    return best;
}

// Bytes of the rows that a copy keeps for a tile: a power of two of them.
double kept_bytes(const Facts &f, const RowTileKnobs &k) {
    const int64_t rows = int64_t(std::bit_ceil(uint64_t(input_rows(f.loops, k.rows))));
    if (k.masked && !reads_planes(f.loops, k)) return 0;
    if (k.masked) return 4.0 * double(plane_columns(f.loops, k) * f.loops.stride[0] * rows * k.channel_block);
    return 4.0 * double(computed_columns(f.loops, k) * std::min(f.loops.stride[0], f.loops.kernel[0]) * rows);
}

// Columns that are taken apart by several shuffles take longer in pieces than they take to come back from L2.
bool slides(const Facts &f, RowTileKnobs k) {
    k.rows = f.loops.output[1];
    const bool shuffles_often = k.masked && !f.has_mask_registers();
    const double room = shuffles_often ? double(f.core.l2_bytes) / 2 : double(f.core.l1_bytes) / (k.masked ? 2 : 4);
    return kept_bytes(f, k) > room;
}

// The register tile with the least estimated cost. Tall tiles are more code and more rows to copy before the first sum; they
// pay where the image is small, and divide the others.
RowTileKnobs cheapest_tile(const Facts &f, const RowTileDomains &domains, RowTileKnobs k) {
    const auto allowed = limits(f);
    const auto holds = [&](const RowTileKnobs &tile) {
        return std::all_of(allowed.begin(), allowed.end(), [&](const auto &limit) { return limit.holds(tile); });
    };
    const int64_t most_rows = f.loops.output[1] <= 14 ? 8 : 4;
    RowTileKnobs best = k;
    double least = 1e300;
    for (int64_t lanes : domains.lanes) {
        for (int64_t vectors : domains.vectors) {
            for (int64_t rows : domains.rows) {
                for (int64_t unroll : domains.unroll_rows) {
                    k.lanes = lanes, k.vectors = vectors, k.rows = rows, k.unroll_rows = unroll;
                    const bool divides =
                        k.masked || copies_by_masks(f.loops, f.lanes) || most_rows > 4 || f.loops.output[1] % rows == 0;
                    if (!holds(k) || rows > most_rows || !divides) continue;
                    if (2 * vectors * rows > f.registers && !f.has_mask_registers()) continue;
                    if (rows > 1 && !k.masked && kept_bytes(f, k) > f.core.l1_bytes * 3 / 8.0) continue;
                    const double cost = tile_cost(f, k);
                    if (cost < least * 0.999) least = cost, best = k;
                }
            }
        }
    }
    return best;
}

// Whether masks that are vectors, made for each row's ends, take less than a padded copy. Rows of wide windows are loaded once for
// each of their columns, a copy's as well, and masks take registers of those; columns that a stride takes apart are copied in both
// cases. Where the limits are was measured on Zen 3.
bool gains_by_masks(const Facts &f) {
    const int64_t window = f.loops.kernel[0], width = f.loops.output[0];
    if (f.loops.stride[0] > 1) return width <= f.lanes;
    return window <= 3 || (window <= 5 && (width <= f.lanes || width > 2 * f.lanes));
}

// A tile whose rows are read as they lie, or copied into registers.
RowTileKnobs tile_of_rows(const Facts &f, const RowTileDomains &domains, int64_t vectors, int64_t rows) {
    RowTileKnobs k{.lanes = f.lanes, .vectors = vectors, .rows = std::min(rows, f.loops.output[1])};
    k.unroll_rows = domains.unroll_rows.back();
    k.parallel = domains.parallel.back();
    if (!k.unroll_rows && f.loops.kernel[1] > 1) k.rows = 1;
    const auto is_too_large = [&] { return f.steps(k) > most_row_tile_steps || !f.fits(k); };
    while (is_too_large() && k.rows > 1) k.rows--;
    while (is_too_large() && k.vectors > 1) k.vectors--;
    if (is_too_large()) k.unroll_rows = 0;
    return k;
}

RowTileKnobs tile_in_registers(const Facts &f, const RowTileDomains &domains, int64_t vectors, int64_t rows) {
    RowTileKnobs k = tile_of_rows(f, domains, vectors, rows);
    k.slide = 2;
    return k;
}

// A tile whose weights are those of one column of the window at a time. Its sums fill half of the registers or more, so that the weights
// serve many; with halves of vectors where these hold a row.
RowTileKnobs tile_by_columns(const Facts &f, const RowTileDomains &domains) {
    constexpr int64_t most_vectors = 5, of_long_rows = 3, most_rows = 16, sums = 15, least_rows = 4;
    const int64_t in_row = ceil_div(f.loops.output[0], f.lanes), height = f.loops.output[1];
    const int64_t vectors = in_row <= most_vectors ? in_row : of_long_rows;
    const int64_t rows = std::max(sums / vectors, least_rows);
    RowTileKnobs k = tile_of_rows(f, domains, vectors, vectors == 1 && height <= most_rows ? height : rows);
    if (2 * f.loops.output[0] <= f.lanes) k.lanes = f.lanes / 2;
    k.masked = k.by_columns = 1;
    return k;
}

// A tile where a choice was raced, on a Zen 5 (docs/measurements/layouts.md); else none. In registers each input is loaded once, and its
// row shuffled for each tap. Columns that a stride takes apart are shuffled in any case, so that this is less work on every CPU.
// Neighbours are loads that meet two cache lines each. More than about eight sums are more weights that wait in memory.
std::optional<RowTileKnobs> raced_tile(const Facts &f, const RowTileDomains &domains) {
    const ConvLoops &s = f.loops;
    if (!f.has_mask_registers() || !copies_by_masks(s, f.lanes) || s.kernel[0] == 1 || !f.shares_rows()) return {};
    if ((s.kernel[0] - 1) * s.dilation[0] > f.lanes) return {};
    const int64_t in_row = ceil_div(s.output[0], f.lanes);
    if (s.stride[0] > 1) {
        const int64_t share = ceil_div(in_row, ceil_div(in_row, 4));
        return tile_in_registers(f, domains, share, std::max<int64_t>(8 / share, 2));
    }
    if (!f.core.shuffles_rows) return {};
    const bool is_raced = s.kernel[1] > 1 && s.kernel[0] <= most_summed_columns;
    if (f.core.sums_by_columns && is_raced && (s.kernel[0] >= 5 || in_row == 1)) return tile_by_columns(f, domains);
    const bool is_whole = s.output[0] % f.lanes == 0, is_wide = in_row == 6 || in_row == 7;
    if (in_row == 1) {
        if (2 * s.output[0] <= f.lanes || (is_whole && s.kernel[0] <= 3)) return {};
        return tile_in_registers(f, domains, 1, 8);
    }
    if (s.kernel[0] <= 3) return is_wide ? std::optional(tile_in_registers(f, domains, in_row, 2)) : std::nullopt;
    if (is_whole && (s.kernel[0] > 5 || !is_wide)) return {};
    if (s.kernel[0] > 5) return in_row % 2 == 0 ? std::optional(tile_in_registers(f, domains, 2, 4)) : std::nullopt;
    RowTileKnobs masked = tile_of_rows(f, domains, 1, 4);
    masked.masked = 1;
    return masked;
}

// The same of blocks of channels, whose rows are copied into registers: columns of rows in even shares, or whole short rows. None where no
// tile was faster in races of 34 layers on an Emerald Rapids.
std::optional<RowTileKnobs> tile_of_blocks_by_columns(const Facts &f, const RowTileDomains &domains, int64_t in_row) {
    const ConvLoops &s = f.loops;
    const bool is_raced =
        f.shares_rows() && s.stride[0] <= 2 && s.kernel[1] > 1 && s.kernel[0] > 1 && s.kernel[0] <= most_summed_columns;
    if (!f.core.sums_by_columns || !is_raced) return {};
    const bool is_strided = s.stride[0] > 1, has_few_taps = s.kernel[0] <= 3;
    const int64_t height = s.output[1], most_rows = is_strided && height > 16 ? 8 : 16;
    const int64_t share = ceil_div(height, ceil_div(height, most_rows));
    const bool is_short = in_row <= (is_strided ? 2 : 4);
    if (has_few_taps && (is_strided || is_short || in_row > f.lanes)) return {};
    RowTileKnobs k = has_few_taps && in_row > f.lanes / 2 ? tile_in_registers(f, domains, 2, 7)
                     : is_short                           ? tile_in_registers(f, domains, in_row, 4)
                                                          : tile_in_registers(f, domains, 1, share);
    k.by_columns = 1;
    return k;
}

// Of blocks of channels that a vector has several columns of: what was fastest on a Zen 5 (docs/measurements/layouts.md).
RowTileKnobs tile_of_blocks(const Facts &f, const RowTileDomains &domains) {
    const ConvLoops &s = f.loops;
    const int64_t in_row = ceil_div(s.output[0], f.lanes / s.stored_input.block);
    if (const auto raced = tile_of_blocks_by_columns(f, domains, in_row)) return *raced;
    if (s.kernel[0] > 3) {
        if (s.stride[0] == 1) return tile_in_registers(f, domains, 1, 7);
        return in_row <= 8 ? tile_in_registers(f, domains, in_row, std::max<int64_t>(6 / in_row, 1))
                           : tile_in_registers(f, domains, 1, 4);
    }
    if (in_row <= 4) return tile_in_registers(f, domains, in_row, 4);
    return tile_in_registers(f, domains, in_row <= 8 ? in_row : 4, 2);
}

RowTileKnobs default_knobs(const Facts &f, const RowTileDomains &domains) {
    if (has_short_blocks(f.loops, f.lanes)) return tile_of_blocks(f, domains);
    if (const auto raced = raced_tile(f, domains)) return *raced;
    RowTileKnobs k;
    const bool in_columns = f.reads_columns() && stores_columns(f.loops);
    k.masked = f.has_mask_registers() || (in_columns && gains_by_masks(f)) ? domains.masked.back() : 0;
    // Of few taps, it is less work to take columns apart for each, where one instruction shuffles two vectors.
    if (k.masked > 1 && (f.loops.kernel[0] > 3 || !f.has_mask_registers())) k.masked = 1;
    k.channel_block = k.masked && in_columns ? least_masked_block(f.loops, k) : default_channel_block(f, domains);
    k = cheapest_tile(f, domains, k);
    k.by_rows = k.masked && is_beyond_l2(f.loops, f.core) ? domains.by_rows.back() : 0;
    k.slide = !k.by_rows && f.loops.output[1] > 1 && slides(f, k) ? 1 : 0;
    k.parallel = domains.parallel.back();
    return k;
}

}  // namespace

bool has_short_blocks(const ConvLoops &loops, int lanes) {
    const int64_t block = loops.stored_input.block;
    return block > 1 && block == loops.stored_result.block && block < lanes && lanes % block == 0;
}

int64_t channels_of_vector(const ConvLoops &loops, const RowTileKnobs &k) {
    return is_in_registers(k) ? loops.stored_input.block : 1;
}

int64_t columns_of_vector(const ConvLoops &loops, const RowTileKnobs &k) {
    return k.lanes / channels_of_vector(loops, k);
}

bool copies_to_registers(const ConvLoops &loops, int lanes) {
    if (copies_by_masks(loops, lanes)) return true;
    return has_short_blocks(loops, lanes) && can_be_masked(loops, lanes) && loops.group_outputs() == 1;
}

int64_t computed_columns(const ConvLoops &loops, const RowTileKnobs &k) {
    const int64_t width = columns_of_vector(loops, k) * k.vectors, columns = loops.output[0];
    return (stores_columns(loops) || is_in_registers(k)) && columns >= width ? columns
                                                                             : ceil_div(columns, width) * width;
}

bool is_beyond_l2(const ConvLoops &loops, const Core &core) {
    const auto elements = [](const StoredActivation &s) {
        return double(s.channels * s.space[0] * s.space[1] * s.space[2]);
    };
    return 4 * (elements(loops.stored_input) + elements(loops.stored_result)) > double(core.l2_bytes);
}

bool copies_by_masks(const ConvLoops &loops, int lanes) {
    return loops.stored_input.block == 1 && stores_columns(loops) && can_be_masked(loops, lanes);
}

int64_t copied_columns(const ConvLoops &loops, const RowTileKnobs &k) {
    const int64_t lanes = std::max(k.lanes, turned_tile_side);
    const int64_t read = computed_columns(loops, k) + (loops.kernel[0] - 1) * loops.dilation[0] / loops.stride[0];
    return ceil_div(read, lanes) * lanes;
}

bool reads_planes(const ConvLoops &loops, const RowTileKnobs &k) {
    return loops.stored_input.block != 1 || (loops.stride[0] > 1 && k.masked == 1);
}

int64_t plane_columns(const ConvLoops &loops, const RowTileKnobs &k) {
    const int64_t columns = ceil_div(loops.input_map[input_index::x].dilated(), loops.stride[0]);
    const int64_t whole = loops.stored_input.block == 1 ? k.lanes : turned_tile_side;
    return ceil_div(columns, whole) * whole;
}

namespace {

// Knobs that candidates were recorded without.
bool came_later(const std::string &name) {
    return name == knob_name(&RowTileKnobs::masked) || name == knob_name(&RowTileKnobs::by_rows) ||
           name == knob_name(&RowTileKnobs::by_columns);
}

}  // namespace

Space row_tile_space(Candidate base, const ConvLoops &loops, const Target &target, const Core &core) {
    const Facts facts{loops, vector_lanes(target), vector_registers(target), core, target.threads};
    const RowTileDomains allowed = domains(facts);
    std::vector<Knob> knobs = knob_list(allowed);
    for (Knob &knob : knobs) knob.zero_left_out = came_later(knob.name);
    base.schedule = row_tile_name;
    base.schedule_version = row_tile_version;
    base.knobs = present(encode_knobs(default_knobs(facts, allowed)), knobs);
    return Space(std::move(base), std::move(knobs), {constraint(limits(facts))});
}

}  // namespace kiln
