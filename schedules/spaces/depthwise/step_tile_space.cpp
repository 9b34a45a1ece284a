#include "schedules/spaces/depthwise/step_tile_space.h"

#include <algorithm>
#include <bit>

#include "rewrites/column_steps.h"
#include "workload/division.h"

namespace kiln {
namespace {

struct Facts {
    ConvLoops loops;
    int64_t parts = 1;
    int lanes = 1, registers = 16;  // of the target
    int threads = 1;
    int64_t l1_bytes = 0;
    bool makes_pairs_by_vector = false;

    ColumnSteps steps(const StepTileKnobs &k) const { return column_steps(loops, parts, k.share); }
    int64_t products(const StepTileKnobs &k) const {
        const int64_t vectors = has_whole_blocks(k) ? k.block : 1;
        return vectors * k.pixels * k.rows * steps(k).groups * (shares_input_rows(loops, k) ? loops.kernel[1] : 1);
    }
    // The bytes of the steps that a tile of rows reads: memory has a power of two of rows.
    int64_t kept_bytes(const StepTileKnobs &k) const {
        const int64_t rows = int64_t(std::bit_ceil(uint64_t(input_rows(loops, k.rows)))), width = 4 * lanes;
        const int64_t row = steps(k).steps(ceil_div(loops.output[0], k.pixels) * k.pixels);
        return rows * row * (k.by_channels ? k.block : vectors()) * width;
    }
    int64_t vectors() const { return ceil_div(loops.output_channels, lanes); }
};

StepTileDomains domains(const Facts &f) {
    const ConvLoops &s = f.loops;
    StepTileDomains d;
    d.share = up_to(std::min<int64_t>(most_shared(s, f.parts), s.output[0]));
    d.pixels = up_to(8);
    d.rows = s.dilation[1] == 1 ? up_to(std::min<int64_t>(s.output[1], 8)) : std::vector<int64_t>{1};
    for (int64_t block = 2; block <= 4 && block < 2 * f.vectors(); block *= 2) d.block.push_back(block);
    if (f.vectors() > 1) d.by_channels = {0, 1};
    if (f.parts == 4 && s.output_channels % f.lanes == 0) d.in_tile = {0, 1};
    if (f.parts == 4 && s.output_channels % (vectors_in_lanes * f.lanes) == 0 && !s.adds_tensor) d.in_lanes = {0, 1};
    if (s.reads_outside(0) || s.reads_outside(1)) d.partition = {0, 1};
    if (f.threads > 1) {
        d.parallel = {0, 1};
        for (int64_t tiles = 1; tiles < s.output[1]; tiles *= 2) d.row_block.push_back(tiles);
    }
    return d;
}

std::vector<Limit<StepTileKnobs>> limits(const Facts &f) {
    using K = StepTileKnobs;
    const int64_t width = f.loops.output[0], height = f.loops.output[1], channels = f.loops.output_channels;
    return {
        {"the register tile needs more vector registers than the target has",
         [=](const K &k) { return k.pixels * k.rows * (has_whole_blocks(k) ? k.block : 1) + 4 <= f.registers; }},
        {"steps are made within 128 bits in blocks of four vectors only",
         [=](const K &k) { return !k.in_lanes || k.block == vectors_in_lanes; }},
        {"steps are made in the register tile of whole blocks of channels only",
         [=](const K &k) { return !k.in_tile || channels % (k.block * f.lanes) == 0; }},
        {"outputs that share steps fill a tile", [](const K &k) { return k.pixels % k.share == 0; }},
        {"a row has fewer columns", [=](const K &k) { return k.pixels < width + k.share; }},
        {"row_block is larger than the number of tiles of rows",
         [=](const K &k) { return k.row_block < 2 || k.row_block <= ceil_div(height, k.rows); }},
        {"the unrolled reduction is too much code",
         [=](const K &k) { return f.products(k) <= most_step_tile_products; }},
    };
}

// What a register tile costs, in instructions of a vector of its sums.
struct TileWork {
    double outputs = 0, products = 0;
    double rows = 0;     // of the input, of all planes of the kernel
    double steps = 0;    // of a row
    double weights = 0;  // vectors
};

TileWork work_of(const Facts &f, const StepTileKnobs &k) {
    const ConvLoops &s = f.loops;
    const ColumnSteps steps = f.steps(k);
    const double outputs = double(k.pixels * k.rows), taps = double(s.kernel[1] * s.kernel[2]);
    const double rows = shares_input_rows(s, k) ? input_rows(s, k.rows) : double(k.rows) * s.kernel[1];
    return {outputs, outputs * steps.groups * taps, rows * s.kernel[2], double(steps.steps(k.pixels)),
            double(k.share * steps.groups) * taps};
}

// With `in_tile`. Neighbouring steps share a pair. Sums that leave few registers for both are stored in between.
double cost_with_steps(const Facts &f, const StepTileKnobs &k, const TileWork &w) {
    const double spilled = std::max(0.0, w.outputs * double(k.block) + 8 - f.registers);
    if (!k.in_lanes) {
        const double made = w.rows * (2 * (w.steps + 1) + 2.5 * w.steps);
        return w.products + made + 5 * w.outputs + 8 * spilled + 8;
    }
    // Four vectors of a pair are two unpackings, those of a step are four, and each column is shifted before.
    return w.products + w.rows * (2 * w.steps + 1) + 6.5 * w.outputs + 2 * spilled + 4;
}

// Estimated cycles in units that compare tiles: products, loads of steps and weights, requantized results, and what a tile
// begins with. Weights of several tiles' steps that do not stay in registers are loaded for each product.
double tile_cost(const Facts &f, const StepTileKnobs &k) {
    const ConvLoops &s = f.loops;
    const TileWork w = work_of(f, k);
    const double tiles = double(ceil_div(s.output[0], k.pixels)) * ceil_div(s.output[1], k.rows);
    if (k.in_tile) return tiles * cost_with_steps(f, k, w);
    const ColumnSteps steps = f.steps(k);
    // Steps that leave the L1 cache are stored and loaded at half of the speed.
    const double far = f.kept_bytes(k) > f.l1_bytes ? 1.5 : 1;
    const double made = double(ceil_div(s.output[0], k.share)) * s.input[1] * (4 / double(steps.unit) + 4);
    const double all_made = far * made * (steps.groups > 1 ? 1 : 0.5);
    // No weights stay in registers, and each row has its own.
    if (k.in_lanes)
        return tiles * (w.products + 0.7 * far * (w.rows * w.steps + w.weights * k.rows) + 6.5 * w.outputs + 4) +
               all_made;
    const double over = std::max(0.0, w.outputs + w.weights + 4 - f.registers);
    return tiles * (w.products + 0.7 * far * (w.rows * w.steps + w.weights) + 0.5 * over + 4 * w.outputs + 16) +
           all_made;
}

// The register tile of the least cost for the other knobs of `k`.
StepTileKnobs with_best_tile(const Facts &f, const StepTileDomains &domains, StepTileKnobs k) {
    const auto allowed = limits(f);
    StepTileKnobs best;
    double least = 1e300;
    for (int64_t share : domains.share) {
        for (int64_t rows : domains.rows) {
            for (int64_t pixels : domains.pixels) {
                k.share = share, k.rows = rows, k.pixels = pixels;
                const bool holds =
                    std::all_of(allowed.begin(), allowed.end(), [&](const auto &limit) { return limit.holds(k); });
                const int64_t sums = rows * pixels * (k.in_lanes ? k.block : 1);
                if (!holds || (!k.in_tile && sums > f.registers / 2)) continue;
                const double cost = tile_cost(f, k);
                if (cost < least * 0.999) least = cost, best = k;
            }
        }
    }
    return best;
}

// Steps that no second output shares are each read by the rows of the kernel alone. What they cost in memory is then more than what it
// costs to make them again for each tile of rows.
bool makes_steps_in_tile(const Facts &f, const StepTileDomains &domains) {
    return domains.in_tile.size() > 1 && f.loops.stride[0] > 1 && f.loops.kernel[0] <= f.parts;
}

StepTileKnobs default_knobs(const Facts &f, const StepTileDomains &domains) {
    StepTileKnobs k;
    // Four vectors of steps at a time take the fewest instructions each; those behind the last channel are for nothing. Blocks that
    // do not divide the channels read a copy of all channels, which is made for each block that is outside of tiles of rows.
    const auto copies = [&](int64_t block) { return f.loops.output_channels % (block * f.lanes) != 0; };
    double least = 1e300;
    for (int64_t block : domains.block) {
        const double cost =
            double(ceil_div(f.vectors(), block) * block) * (block == 1 ? 1.3 : 1) * (copies(block) ? 2 : 1);
        if (cost <= least) least = cost, k.block = block;
    }
    k.parallel = domains.parallel.back();
    k.partition = domains.partition.back();
    const int64_t blocks = ceil_div(f.vectors(), k.block);
    k.by_channels = blocks > 1 && (copies(k.block) ? blocks == 2 : k.block > 1);
    // Rows of one tile have few steps, which would lie far apart between those of all other channels: 7x7x960 took 1.11 of the time with
    // two threads.
    const bool is_narrow = f.loops.input[0] <= domains.pixels.back();
    if (f.makes_pairs_by_vector && !is_narrow) k.block = 1, k.by_channels = 0;
    if (makes_steps_in_tile(f, domains)) k.in_tile = 1, k.by_channels = 0, k.block = copies(2) ? 1 : 2;
    if (domains.in_lanes.size() > 1) {
        k.block = vectors_in_lanes, k.in_lanes = 1;
        k.by_channels = f.vectors() > k.block && !k.in_tile;
    }
    StepTileKnobs best = with_best_tile(f, domains, k);
    if (best.parallel) {
        const int64_t tiles = ceil_div(f.loops.output[1], best.rows), tasks = 2 * f.threads;
        for (int64_t block : domains.row_block) {
            if (block == 1 || block * tasks <= tiles) best.row_block = block;
        }
    }
    return best;
}

}  // namespace

Space step_tile_space(Candidate base, const ConvLoops &loops, int64_t parts, const Target &target, const Core &core) {
    const Facts facts{loops,
                      parts,
                      vector_lanes(target),
                      vector_registers(target),
                      target.threads,
                      core.l1_bytes,
                      core.pairs_by_vector && parts == 2 && vector_lanes(target) == 8};
    const StepTileDomains allowed = domains(facts);
    std::vector<Knob> knobs = knob_list(allowed);
    for (Knob &knob : knobs) {
        knob.zero_left_out = knob.name == knob_name(&StepTileKnobs::in_tile) ||
                             knob.name == knob_name(&StepTileKnobs::partition) ||
                             knob.name == knob_name(&StepTileKnobs::in_lanes);
    }
    base.schedule = step_tile_name;
    base.schedule_version = step_tile_version;
    base.knobs = present(encode_knobs(default_knobs(facts, allowed)), knobs);
    return Space(std::move(base), std::move(knobs), {constraint(limits(facts))});
}

}  // namespace kiln
