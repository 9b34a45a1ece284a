#include "catalog/winograd/winograd_cost.h"

#include <algorithm>
#include <array>

#include "catalog/conv_rewrites.h"
#include "rewrites/panels.h"
#include "schedules/spaces/winograd/winograd_default.h"
#include "schedules/spaces/winograd/winograd_rules.h"
#include "workload/division.h"

namespace kiln {
namespace {

double lanes_a_cycle(const Target &target, const Core &core) {
    return double(vector_lanes(target)) * core.vectors_a_cycle();
}

double direct_cycles(const ConvLoops &s, const Target &target, const Core &core) {
    const double outputs = double(s.batch * s.output[2]) * double(s.output[0] * s.output[1]);
    const double weights = double(s.taps() * s.input_channels) * double(s.output_channels);
    return beside_weights(outputs * weights / lanes_a_cycle(target, core), 4 * weights, core);
}

constexpr std::array tile_sides{2, 3, 4, 5};

bool is_three_by_three(const ConvLoops &s) { return s.kernel[0] == 3 && s.kernel[1] == 3; }

// Tiles of m outputs a side, and the places of a transformed tile.
struct Tiles {
    int64_t count = 1, places = 1;
};

Tiles tiles_of(int m, const ConvLoops &s) {
    Tiles tiles{.count = s.batch * s.output[2]};
    for (int d = 0; d < 2; d++) {
        const bool is_transformed = s.kernel[d] > 1;
        tiles.count *= ceil_div(s.output[d], is_transformed ? m : 1);
        if (is_transformed) tiles.places *= m + s.kernel[d] - 1;
    }
    return tiles;
}

// The products, what is added to make their operands and of their results, and the weights, of which each product has its own.
double window_cycles(int m, const ConvLoops &s, const Target &target, const Core &core) {
    const auto [count, places_of_tile] = tiles_of(m, s);
    const auto tiles = double(count), places = double(places_of_tile);
    const int64_t lanes = vector_lanes(target);
    const auto in = double(s.input_channels), out = double(s.output_channels);
    const bool has_wide_vectors = lanes >= 16;
    // For an operand or a result, in whole vectors; of other windows by measurement of 47 layers on a Zen 3, and of five outputs a
    // side by that of 42 on a Zen 2.
    const double additions = !is_three_by_three(s) ? 7 : m == 5 && !has_wide_vectors ? 5 : 4;
    const double added =
        additions * double(ceil_div(s.all_input_channels(), lanes) + ceil_div(s.output_channels, lanes));
    // Most layers take longer with five outputs a side than their products say: with AVX-512 those of docs/winograd.md, with AVX2
    // the same 42.
    const double odd = m != 5 ? 1 : has_wide_vectors ? 1.15 : 1.05;
    // With 32 registers most images have a register tile that keeps the multipliers busy; nothing was raced there.
    const double slowness = has_wide_vectors ? 1 : winograd_slowness(winograd_facts(s, m, target, core));
    const double cycles = odd * tiles * places * (slowness * in * out / double(lanes) + added) / core.vectors_a_cycle();
    return beside_weights(cycles, 4 * places * in * out, core);
}

constexpr int64_t many_of_group = 64;  // channels

// Fewer channels leave lanes of the transforms idle. By races of 15 layers of 8 to 15 outputs on a Zen 2 with AVX2, vectors of eight lanes
// gain there, too: layers take 0.36 to 0.69 of the time of direct sums. Wider ones are not measured, nor are groups of few channels there
// but on a core that gains by them, up to as many groups as were raced.
bool fill_vectors(const ConvLoops &s, const Target &target, const Core &core) {
    constexpr int64_t most_groups = 8;
    const bool is_wide = vector_lanes(target) >= 16, may_be_few = core.gains_by_groups && s.groups <= most_groups;
    const int64_t least_outputs = is_wide ? 16 : 8;
    const int64_t least_inputs = !is_wide || s.groups == 1 ? 8 : may_be_few ? 16 : many_of_group;
    return s.input_channels >= least_inputs && s.group_outputs() >= least_outputs;
}

// What an estimate must be below, by share of that of direct sums: of groups by times of 16 layers on a Zen 2 with AVX2, where direct sums of
// groups are further from the peak than others, and of 20 on an Emerald Rapids with AVX-512, where the products of few channels are
// (docs/measurements/choices.md).
double least_gain(const ConvLoops &s, const Target &target, const Core &core) {
    if (s.groups == 1) return 0.7;
    if (vector_lanes(target) < 16) return 0.95;
    if (!core.gains_by_groups) return 0.7;
    return s.input_channels >= many_of_group ? 0.6 : s.input_channels >= 32 ? 0.5 : 0.4;
}

// For a window of 3x3 the products that are saved pay for the transforms where tiles of 4x4 outputs are at least half full. Few
// tiles must be two thirds full: they read the weights, which are four times as large, for few outputs.
bool has_full_tiles(const ConvLoops &s) {
    int64_t tiles = s.batch * s.output[2], outputs = tiles;
    for (int d = 0; d < 2; d++) {
        tiles *= ceil_div(s.output[d], 4);
        outputs *= s.output[d];
    }
    const int64_t places = 16 * tiles;
    return (tiles >= 4 && 3 * outputs >= 2 * places) || (tiles >= 9 && 2 * outputs >= places);
}

// Phases of a dilation fill tiles with outputs that the convolution has not, and that direct sums leave out. Tiles of some size must
// have half of its products still, as tiles of 4x4 have that are half full.
bool saves_half_of_products(const ConvLoops &s, const ConvLoops &whole) {
    const int64_t outputs = whole.batch * whole.output[2] * whole.output[1] * whole.output[0];
    return std::ranges::any_of(tile_sides, [&](int m) {
        const auto [tiles, places] = tiles_of(m, s);
        return 2 * tiles * places <= whole.taps() * outputs;
    });
}

// Errors grow with the places of a tile's side and with its outputs. At most, 12 layers had 2.4e-6 with eight places and 4.1e-6
// with nine, and ten in both dimensions exceed the default budget of 1e-5.
bool is_accurate(int m, const ConvLoops &s) {
    const bool is_plane = s.kernel[0] > 1 && s.kernel[1] > 1;
    const int64_t side = m + std::max(s.kernel[0], s.kernel[1]) - 1;
    return side <= (!is_plane ? 10 : m <= 3 ? 9 : 8);
}

bool window_pays(int m, const Workload &w, const ConvLoops &s, const Target &target, const Core &core) {
    if (!is_accurate(m, s) || !fill_vectors(s, target, core)) return false;
    const ConvLoops whole = conv_loops(w);
    const double cycles = window_cycles(m, s, target, core);
    const auto takes_less_than = [&](double share) { return cycles < share * direct_cycles(whole, target, core); };
    // Small phases fill few tiles, of which a block takes those of many phases.
    constexpr int64_t many_phases = 16;
    const bool beats_direct = is_three_by_three(s) && s.groups == 1
                                  ? (has_full_tiles(s) && saves_half_of_products(s, whole)) ||
                                        (s.input_phases >= many_phases && takes_less_than(0.6))
                                  : takes_less_than(least_gain(s, target, core));
    return beats_direct && std::ranges::none_of(tile_sides, [&](int other) {
               return is_accurate(other, s) && window_cycles(other, s, target, core) < 0.95 * cycles;
           });
}

// Cycles to bring the channels of a block of pixels together, where they are several vectors that do not lie in memory as such:
// element by element, by measurement of 16 first layers on a Zen 3.
double gathering_cycles(const WinogradFacts &f) {
    const ConvLoops &s = f.shape;
    const int64_t of_pixel = s.stored_input.channels, of_row = of_pixel * f.pixels[0].all;
    const bool lies_so = of_pixel % f.lanes == 0 || of_row % f.lanes == 0 || s.input_channels <= f.lanes;
    return lies_so ? 0 : 2.0 * double(s.input_channels);
}

double strided_cycles(int m, const ConvLoops &s, const Target &target, const Core &core) {
    const WinogradFacts f = winograd_facts(gathered(s), m, target, core);
    const auto in = double(f.shape.input_channels), out = double(f.shape.output_channels);
    const auto places = double(f.frequencies()), tiles = double(f.images() * f.tiles[0] * f.tiles[1]);
    const double products = places * in * f.products_left();
    constexpr double additions = 12;  // for an operand or a result, by measurement of 22 layers on a Zen 5
    // Beside direct sums, whose operands lie in L1: by measurement of eight layers on an Emerald Rapids.
    const double slowness = !core.has_two_wide_multipliers ? 1 : m == 2 ? 1.3 : 1.5;
    const double cycles =
        tiles * (slowness * products * out + additions * places * (in + out)) / lanes_a_cycle(target, core);
    return beside_weights(cycles + tiles * places * gathering_cycles(f), 4 * places * in * out, core);
}

bool strided_pays(int m, const Workload &w, const ConvLoops &s, const Target &target, const Core &core) {
    constexpr int64_t least_channels = 16;  // fewer do not fill vectors, which then reach over pixels
    if (m > 4) return false;
    for (int d = 0; d < 2; d++) {
        if (s.kernel[d] < 2 || s.kernel[d] > 4) return false;
    }
    const ConvLoops whole = conv_loops(w);
    // A block of pixels of an image of colours fills a vector, or most of several.
    const bool is_stem = s.input_channels >= 12;
    if ((whole.input_channels < least_channels && !is_stem) || whole.output_channels < least_channels) return false;
    const double cycles = strided_cycles(m, s, target, core);
    return cycles < 0.9 * direct_cycles(whole, target, core) &&
           std::ranges::none_of(std::array{2, 3, 4},
                                [&](int other) { return strided_cycles(other, s, target, core) < 0.95 * cycles; });
}

}  // namespace

bool winograd_pays(int m, const Workload &w, const Target &target, const Core &core) {
    const ConvLoops s = loops_of("winograd_4", w, target);
    return s.folds() ? strided_pays(m, w, s, target, core) : window_pays(m, w, s, target, core);
}

}  // namespace kiln
