#include "schedules/spaces/cpu_tile_rules.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "rewrites/panels.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "schedules/spaces/fetched_weights.h"
#include "schedules/spaces/spilled_sums.h"
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
    if (f.reads_weights_once()) return tile.sums() + 2 <= f.registers;  // such weights are operands in memory
    return tile.sums() + (f.x_lanes > 1 ? tile.pixels : tile.vectors) + 1 <= f.registers;
}

int64_t unrolled_steps(const ConvLoops &s, const CpuTileKnobs &k) {
    const int64_t tile = register_tile(k).sums();
    if (k.inline_sum) return s.taps() * tile;
    const int64_t columns = k.unroll_columns ? s.kernel[0] : 1, tiles = k.unroll_tiles ? k.x_block : 1;
    const int64_t rows = k.unroll_rows ? s.kernel[1] + (k.share_rows ? (k.rows - 1) * s.stride[1] : 0) : 1;
    return k.unroll * columns * rows * tiles * tile;
}

bool is_too_much_code(const ConvLoops &s, const CpuTileKnobs &k) {
    // Each multiply-add has tests of its own with holes, and where one of the unrolled tiles is at the border in some blocks
    // only; compiling 2400 of them takes a minute instead of 10 s.
    const bool tests_tiles = k.unroll_tiles && k.x_block > 1 && k.x_block < ceil_div(s.output[0], k.pixels);
    return unrolled_steps(s, k) > (s.has_holes() || tests_tiles ? 1024 : 4096);
}

bool blocks_are_apart(const TileFacts &f, int64_t pixels, int64_t x_block) {
    const int64_t tiles = f.x_tiles(pixels);
    return f.shape.output[0] % (pixels * f.x_lanes) == 0 || tiles == 1 || tiles % x_block != 1 % x_block;
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

double activation_bytes(const ConvLoops &s) {
    const double input = double(s.groups) * s.input[0] * s.input[1] * s.input[2];
    const double output = double(s.output_channels) * s.output[0] * s.output[1] * s.output[2];
    return 4.0 * s.batch * (input + output);
}

namespace {

// Cycles in which a depthwise tile waits for lines that the L1 cache does not have: those of all its rows, and of the
// columns that it shares with the next tile where all panels of a tile are more than the cache keeps.
double waiting_cycles(const TileFacts &f, const RegisterTile &tile) {
    const ConvLoops &s = f.shape;
    const double bytes = activation_bytes(s), rows = double(s.positions_read(tile.rows, 1));
    const double columns = double(s.positions_read(tile.pixels, 0)), pixel = 4.0 * s.groups;
    const bool stays = rows * columns * pixel <= f.core.l1_bytes / 2.0;
    const double lines = rows * (stays ? double(tile.pixels * s.stride[0]) : columns) * s.kernel[2];
    // Rows that are a multiple of a way apart share sets of the cache, and push each other out.
    const int64_t row = 4 * s.groups * s.input[0];
    const bool aliased = f.is_nhwc() && f.core.shares_l1_sets(row) && s.reach(tile.rows, 1) >= f.core.l1_ways;
    const double for_line = (aliased ? 4 : 1) * (bytes <= f.core.l1_bytes ? 0 : bytes <= f.core.l2_bytes ? 0.5 : 1);
    return lines * for_line * double(tile.vectors) * f.lanes * 4 / double(f.core.line_bytes);
}

// Cycles that a depthwise tile stores and loads what its registers have no room for, for each row of inputs and column of
// the kernel. The compiler keeps an input for all outputs that multiply it, and the weights of all rows beside it. Measured on
// Zen 3, with 16 registers and windows of 3x3 to 7x7. Of a row whose neighbours read other inputs it keeps sums, a weight and little
// more, by races of 15 dilated layers on a Zen 2.
double spilling_cycles(const TileFacts &f, const RegisterTile &tile) {
    const bool keeps_one = tile.rows == 1 && f.shape.dilation[0] > 1 && f.shape.dilation[1] > 1;
    const auto live = double(keeps_one ? tile.sums() + 5 : tile.vectors * (tile.rows + 1) * (tile.pixels + 1));
    const double places = double(f.shape.positions_read(tile.rows, 1) * f.shape.kernel[0] * f.shape.kernel[2]);
    return 0.5 * places * std::max(0.0, live - f.registers);
}

// Cycles that one step of a tile along x takes beyond its products: for lines of the input that the channels of a tile push out of L1,
// and, where there are few registers, for what it spills, as every weight needs a register. Planes that are a multiple of many lines
// apart crowd into few sets of L1. Set by hand to times of 14 tiles for 6 layers on a Zen 3, of 30 tiles for 12 on a Zen 5, and of the
// defaults of 62 layers on an Emerald Rapids.
double cycles_along_x(const TileFacts &f, const RegisterTile &tile) {
    const ConvLoops &s = f.shape;
    const int64_t lines = ceil_div(4 * tile.pixels * f.x_lanes, f.core.line_bytes);
    const int64_t apart = std::max<int64_t>(1, 4 * s.input[0] * s.input[1] / f.core.line_bytes);
    constexpr int64_t few_registers = 16;
    const bool has_few = f.registers <= few_registers;
    const int64_t shared = std::gcd(f.core.l1_sets, apart);
    // Lines side by side are in sets of their own. Where registers are few, they are counted as if they were not.
    const int64_t room = f.core.l1_bytes / f.core.line_bytes / shared * (has_few ? 1 : std::min(lines, shared));
    const bool stays = s.input_channels * lines <= room * 3 / 4;
    if (f.core.waits_along_x == 0 && f.core.line_bytes_along_x == 0) return 0;
    double fetch = f.core.waits_along_x * double(lines * f.core.line_bytes) / f.core.l2_bytes_a_cycle;
    if (f.core.line_bytes_along_x > 0) {
        // Vectors of planes that are no whole lines apart lie in two lines each.
        const bool is_between = 4 * s.input[0] * s.input[1] % f.core.line_bytes != 0;
        const auto asked = double((lines + (is_between ? 2 : 0)) * f.core.line_bytes);
        fetch = std::max(0.0, asked / f.core.line_bytes_along_x - double(tile.sums()) / f.core.multiply_adds);
    }
    // Of few registers, all weights are taken from memory. A weight that one vector multiplies needs none.
    const int64_t weights = has_few || tile.pixels == 1 ? 0 : tile.vectors, kept = has_few ? 12 : 34;
    return (stays ? 0 : fetch) + 0.6 * double(std::max<int64_t>(0, tile.sums() + tile.pixels + weights - kept));
}

// Whether so many pixels of a tile share a set of the L1 cache that they push each other out between two channels of a line.
bool crowds_sets(const TileFacts &f, const RegisterTile &tile) {
    const ConvLoops &s = f.shape;
    const int64_t pixel = 4 * s.input_channels * s.groups, row = pixel * s.stored_input.space[0];
    std::vector<int64_t> lines(size_t(f.core.l1_sets), 0);
    for (int64_t y = 0; y < tile.rows; y++) {
        for (int64_t x = 0; x < tile.pixels; x++) {
            const int64_t at = y * s.stride[1] * s.input_step[1] * row + x * s.stride[0] * s.input_step[0] * pixel;
            if (++lines[size_t(at / f.core.line_bytes % f.core.l1_sets)] > f.core.l1_ways) return true;
        }
    }
    return false;
}

}  // namespace

bool shares_panels(const TileFacts &f, const CpuTileKnobs &k) {
    const int64_t all_tiles = f.x_tiles(k.pixels) * ceil_div(f.shape.output[1], k.rows);
    const int64_t tiles = k.panel_block > 1 ? k.x_block * k.row_block : all_tiles;
    return f.shape.groups == 1 && !k.unroll_tiles && tiles > 1 && f.panels(k.vectors) > 1;
}

bool TileFacts::reads_weights_once() const {
    const ConvLoops &s = shape;
    const bool is_pixel = s.batch * s.output[0] * s.output[1] * s.output[2] == 1;
    const bool is_plain = s.groups == 1 && s.parts == 1 && !s.padding_counts && !s.is_input_computed() && !s.scatters();
    return is_pixel && is_plain && lanes > 1 && x_lanes == 1 && weight_bytes() >= least_fetched_weights;
}

bool has_streams(const TileFacts &f, int64_t vectors) {
    const int64_t of_stream = vectors_of_stream(f.lanes);
    return f.reads_weights_once() && vectors % of_stream == 0 && vectors > of_stream;
}

bool shares_blocks(const TileFacts &f, const CpuTileKnobs &k) {
    const bool is_shared = k.panel_block > 1, is_followed = f.x_tiles(k.pixels) > k.x_block;
    return f.reads_one_stretch() && !k.stage_input && !k.unroll_tiles && is_shared && is_followed;
}

bool streams_depthwise(const TileFacts &f) {
    return f.writes_out_sums() && f.is_nhwc() && f.shape.taps() <= 9 && f.shape.groups * 4 >= 4 * f.core.line_bytes &&
           f.core.l3_bytes && activation_bytes(f.shape) > f.core.l3_bytes / 2.0;
}

bool passes_by_pixel(const TileFacts &f) {
    const ConvLoops &s = f.shape;
    const bool is_wide = std::min(s.dilation[0], s.dilation[1]) >= 6 && s.taps() <= 9 && s.groups >= 128;
    return f.core.reads_wide_windows && f.writes_out_sums() && f.lanes == 8 && f.is_nhwc() && is_wide &&
           f.weight_bytes() * 8 <= double(f.core.l1_bytes * 5);
}

bool keeps_to_groups(const TileFacts &f, const RegisterTile &tile) {
    const int64_t panel = tile.vectors * f.lanes, outputs = f.shape.group_outputs();
    return outputs % panel == 0 || panel % outputs == 0;
}

// Multiply-adds dominate; loads compete with them a little; weights come from L2 when a panel does not stay in L1; few
// independent sums leave the multipliers waiting for results.
double tile_cost(const TileFacts &f, const RegisterTile &tile) {
    const ConvLoops &s = f.shape;
    const double sums = tile.sums(), pixels = double(tile.pixels) * tile.rows;
    const double tiles = double(f.panels(tile.vectors)) * f.x_tiles(tile.pixels) * ceil_div(s.output[1], tile.rows);
    if (f.depthwise()) {
        // Inputs of a tile are loaded once for all its outputs, weights once a tile.
        const double input_loads =
            double(s.positions_read(tile.pixels, 0)) * s.positions_read(tile.rows, 1) * s.kernel[2];
        // Pixels lie channels apart: where that is a multiple of many cache lines, they crowd into few sets of the L1
        // cache.
        const int64_t apart = std::max<int64_t>(1, s.groups * 4 / f.core.line_bytes);
        const int64_t sets = f.core.l1_sets / std::gcd(f.core.l1_sets, apart);
        const bool crowded = input_loads > double(f.core.l1_ways * sets);
        // What a load costs where its line was pushed out: six loads for a whole line, a vector's share for a part of one.
        const double for_load = std::max(1.0, 6.0 * f.lanes * 4 / double(f.core.line_bytes));
        const double loads = tile.vectors * (input_loads * (crowded ? for_load : 1) + s.taps());
        return tiles * (1 + 0.05 * double(tile.vectors)) *
               (std::max(sums * s.taps() / f.core.multiply_adds, loads / f.core.loads) + 0.25 * loads + sums + 4 +
                waiting_cycles(f, tile) + spilling_cycles(f, tile));
    }
    double inputs = pixels, products = sums;
    double crossing_cycles = 0;
    if (f.spreads() || f.holds_groups()) {
        // Lanes that need different inputs: a shuffle for each, on a port that multiplies too; the kernel's columns
        // share them. Single floats are more work than dense vectors: the rows of a tile share them too.
        const bool in_place = shuffles_in_place(f, tile), shared = f.spreads() && !in_place && f.shares_rows();
        const double rows = shared ? double(s.reach(tile.rows, 1)) / s.kernel[1] : double(tile.rows);
        inputs = double(tile.vectors) * rows * s.reach(tile.pixels, 0) / s.kernel[0];
        if (f.spreads()) products += inputs * (in_place ? 1 : 3);
    } else if (s.groups > 1 && !s.group_panels) {
        // A panel that reaches into another group needs other inputs there.
        const bool is_even = keeps_to_groups(f, tile);
        inputs *= double(tile.vectors * f.lanes) / double(s.group_outputs()) + (is_even ? 0 : 1);
        inputs = std::max(inputs, pixels);
        // Each of its vectors has a place in the input that only the loop knows, by races of eight layers.
        if (!is_even && f.has_raced_groups()) crossing_cycles = 1 + 0.5 * pixels;
    }
    const double loads = tile.vectors + inputs;
    const double panel_bytes = 4.0 * tile.vectors * f.lanes * s.input_channels * s.taps();
    // One panel of all outputs of a 1x1 layer comes in order, and nothing takes turns with it.
    const bool comes_in_order = f.core.streams_one_panel && s.taps() == 1 && f.panels(tile.vectors) == 1;
    const bool is_near = panel_bytes <= f.core.l1_bytes / 2 || comes_in_order;
    const double weights = is_near ? 0 : tile.vectors * f.lanes * 4 / f.core.l2_bytes_a_cycle;
    // Lanes that are not neighbours in memory are stored one by one.
    const bool scatters = s.output_block % f.lanes != 0 && s.output_block != s.output_channels;
    const double stores = sums * (scatters ? f.lanes : 1) / double(s.input_channels * s.taps());
    // Channels of a pixel become rows, once for all taps. For one tap it takes as long as an element at a time would, by races on Zen 3:
    // each line of the copy is used once, and comes from L2.
    const bool turns = f.x_lanes > 1 && s.input_block > 1;
    const double of_pixel = !turns ? 0 : s.taps() == 1 ? 1 : 0.25 / double(s.taps());
    const double turned = of_pixel * double(s.output[0]) * s.output[1] * s.output[2];
    const bool aliased = f.is_nhwc() && crowds_sets(f, tile);
    // Tiles of one vector load a number for each product. Where that is an instruction of its own, they took 1.5 times as long as those
    // of five vectors, whose weights come from L2, by a race of 64x64x240 to 40 on a Zen 3.
    const bool loads_each = f.x_lanes == 1 && tile.vectors == 1 && f.channel_vectors() > 1;
    const double of_core = s.groups == 1 ? f.core.single_vector_cost : 1;  // not measured with groups
    const double single_vector_cost = !loads_each ? 1 : f.lanes < 16 ? 1.4 : of_core;
    return tiles * (std::max({products / f.core.multiply_adds, loads / f.core.loads, double(f.latency())}) *
                        (aliased ? 1.3 : 1) * single_vector_cost +
                    crossing_cycles +
                    (f.x_lanes > 1 ? cycles_along_x(f, tile)
                                   : double(spilled_sums(f.registers, tile.vectors, tile.pixels * tile.rows))) +
                    0.1 * loads + 0.3 * weights + stores) +
           turned;
}

}  // namespace kiln
