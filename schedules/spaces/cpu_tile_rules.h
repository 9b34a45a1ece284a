// Facts and rules of the template `cpu_tile` that both its space and its default follow: what a register tile costs,
// what fits where, which kind of convolution it is.
#pragma once

#include <cstdint>

#include "rewrites/conv_loops.h"
#include "schedules/spaces/cpu_tile_knobs.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

// Largest value of `unroll`.
inline constexpr int64_t most_unrolled_channels = 8;
inline constexpr int64_t most_written_out_taps = 8;

// Channels of an input that are read from planes as fast as side by side: up to six were raced (docs/measurements/layouts.md).
inline constexpr int64_t few_planes = 6;

struct TileFacts {
    ConvLoops shape;
    int lanes = 1;       // channels of a vector
    int x_lanes = 1;     // pixels of a vector: of one channel each, where vectors lie along x
    int registers = 16;  // of the target
    Core core;
    int threads = 1;

    // Every output has a channel of the input of its own.
    bool depthwise() const { return shape.groups > 1 && shape.input_channels == 1 && shape.parts == 1; }
    // Cycles from a product to its sum that defaults hide.
    int latency() const { return depthwise() || shape.parts > 1 ? core.latency : core.float_latency; }
    bool is_nhwc() const { return shape.input_block == shape.image_channels; }
    // Some planes of a network's input, of which each number is broadcast, as it is where channels lie side by side.
    bool reads_few_planes() const {
        return shape.groups == 1 && shape.input_block == 1 && shape.input_channels <= few_planes && x_lanes == 1;
    }
    // A kernel row's columns and channels are neighbours in memory, and nothing lies between them.
    bool joins_columns() const {
        const ConvLoops &s = shape;
        return s.groups == 1 && is_nhwc() && !s.padding_counts && x_lanes == 1 && s.kernel[0] > 1 && s.input[0] > 0 &&
               s.dilation[0] == 1 && s.hole[0] == 1 && s.input_step[0] == 1;
    }
    // Sums may be written out where they have few taps of one channel.
    bool writes_out_sums() const { return depthwise() && shape.taps() <= 64; }
    // Several groups share a vector: its lanes need different input channels.
    bool spreads() const {
        return shape.groups > 1 && !depthwise() && !shape.group_panels && shape.group_outputs() % lanes != 0;
    }
    // A vector of outputs holds one whole group or several. No other vector of the tile needs the same inputs.
    bool holds_groups() const {
        return shape.groups > 1 && shape.parts == 1 && !depthwise() && shape.group_outputs() <= lanes;
    }
    // The lanes of `vectors` vectors of outputs read whole groups. No vector shares a group with the next one.
    bool spreads_densely(int64_t vectors) const {
        return spreads() && !shape.padding_counts && lanes % shape.group_outputs() == 0 &&
               shape.output_channels % (vectors * lanes) == 0 && shape.stored_channels() == shape.output_channels &&
               shape.input_channels <= most_unrolled_channels;
    }
    // Whether panels of `vectors` end where blocks of the output do, or several fill one. Of others Halide computes all that a
    // block has a part of, each panel for several blocks. Blocks that vectors do not divide, nor fill, have no others.
    bool panels_fill_blocks(int64_t vectors) const {
        const int64_t panel = vectors * lanes, block = shape.output_block;
        if (shape.group_panels || block == 1 || block >= shape.output_channels) return true;
        if (block % lanes != 0 && lanes % block != 0) return true;
        return panel % block == 0 || block % panel == 0;
    }
    // The rows of a tile can read each row of the input once for all of them.
    bool shares_rows() const { return shape.groups > 1 && shape.kernel[1] > 1 && shape.dilation[1] == 1; }
    // Few taps of one channel, whose sums stay in registers while the rows of a tile pass.
    bool sums_depthwise_rows() const { return writes_out_sums() && shares_rows(); }
    // So many taps that, written out, their products and loads leave the registers. By races on a Zen 3 with AVX2; other targets are
    // not measured.
    bool sums_depthwise_taps() const {
        return writes_out_sums() && !shares_rows() && lanes == 8 && shape.taps() > most_written_out_taps;
    }
    // Lanes read neighbouring channels, but those are not neighbours in the input's layout, or the groups lie in the
    // batch: a copy that makes them neighbours is part of every schedule.
    bool needs_copy() const {
        if (shape.has_groups_in_batch() || shape.folds()) return true;
        return shape.groups > 1 && !shape.group_panels && shape.group_outputs() % lanes != 0 &&
               shape.input_block % lanes != 0 && shape.input_block != shape.all_input_channels();
    }
    // The parts of a step are no neighbours, or are converted between tests for padding and holes: read in place each part has
    // its own code, which takes long to compile and is slow.
    bool gathers_parts() const {
        const ConvLoops &s = shape;
        const bool has_all = s.input_map[input_index::c].outside == Outside::never;
        const bool has_tests = s.reads_outside(0) || s.reads_outside(1) || s.reads_outside(2);
        return s.parts > 1 && (!is_nhwc() || s.has_holes() || !has_all || (s.converts && has_tests));
    }
    // A depthwise convolution whose last vector of channels is not whole, neither where it is read nor where it is stored,
    // and masks cost little: in vectors of 8 floats and more.
    bool ends_in_part() const {
        const ConvLoops &s = shape;
        const bool is_plain = !s.padding_counts && !s.converts && !s.scatters() && !s.group_panels;
        const bool is_in_order = s.image_channels == s.groups && s.output_channels == s.groups && is_nhwc() &&
                                 s.output_block == s.output_channels;
        return depthwise() && lanes >= 8 && is_plain && is_in_order && s.groups % lanes != 0;
    }
    // The pixels of a tile are one stretch of memory, and so are those of the next tile behind it.
    bool reads_stretches() const {
        const ConvLoops &s = shape;
        const bool is_plain = !s.has_holes() && s.input_phases == 1 && !s.scatters() && !needs_copy() &&
                              s.input_step == std::array<int64_t, 3>{1, 1, 1};
        const bool stays_inside = !s.reads_outside(0) && !s.reads_outside(1) && !s.reads_outside(2);
        return s.groups == 1 && is_nhwc() && s.taps() == 1 && x_lanes == 1 && is_plain && stays_inside &&
               !s.is_input_computed();
    }
    // All pixels follow each other, so that blocks of tiles are stretches, too.
    bool reads_one_stretch() const {
        return reads_stretches() && shape.stride[0] == 1 && shape.output[1] == 1 && shape.output[2] == 1;
    }
    // What a tile reads lies apart, or is converted, and no other tile in x reads it: a copy of a block of tiles brings it together.
    bool copies_blocks() const {
        const ConvLoops &s = shape;
        const bool is_plain = !s.has_holes() && s.input_phases == 1 && !s.scatters() && !s.folds();
        return s.groups == 1 && (!is_nhwc() || x_lanes > 1 || s.converts) && s.taps() == 1 && is_plain;
    }
    double input_bytes() const {
        return 4.0 * double(shape.all_input_channels() * shape.input[0] * shape.input[1] * shape.batch);
    }
    double result_bytes() const {
        return 4.0 * double(shape.batch * shape.output[2] * shape.output[1]) *
               double(shape.output[0] * shape.stored_channels());
    }
    // Tiles of one panel are stored at even steps.
    bool stores_evenly() const {
        const ConvLoops &s = shape;
        const bool is_plain = s.groups == 1 && s.parts == 1 && !s.folds() && !s.scatters() && !s.is_input_computed();
        return is_plain && lanes > 1 && s.output_block == s.output_channels;
    }
    // The same of a depthwise layer of floats.
    bool stores_depthwise_evenly() const {
        const ConvLoops &s = shape;
        return depthwise() && is_nhwc() && lanes > 1 && s.output_block == s.output_channels && !s.scatters() &&
               !s.converts;
    }
    // Vectors along x are made of channels that lie side by side.
    bool turns_input() const { return x_lanes > 1 && is_nhwc() && shape.input_block > 1 && shape.parts == 1; }
    double weight_bytes() const {
        return 4.0 * double(shape.taps() * shape.input_channels) * double(shape.output_channels);
    }
    // Groups that fill vectors, where their defaults were raced: f32 and NHWC with AVX2, on a Zen 2. Other targets are not measured.
    bool has_raced_groups() const {
        const bool fill_vectors = shape.groups > 1 && !depthwise() && !spreads() && !holds_groups();
        const bool is_avx2 = lanes == 8 && registers == 16;  // AVX-512 has vectors of eight lanes, too
        return fill_vectors && is_avx2 && shape.parts == 1 && x_lanes == 1 && is_nhwc();
    }
    // One pixel multiplies each weight once, as fast as they come.
    bool reads_weights_once() const;
    bool streams_weights() const { return shape.groups == 1 && weight_bytes() > double(core.l2_bytes); }
    // Vectors that panels are made of: of all outputs, or of one group's where panels start anew with each.
    int64_t channel_vectors() const;
    int64_t x_tiles(int64_t pixels) const { return (shape.output[0] + pixels * x_lanes - 1) / (pixels * x_lanes); }
    int64_t panels(int64_t vectors) const { return shape.panels(vectors * lanes); }
};
// `lanes` are those of the vectors that tiles are made of, up to the target's. Of 1, the target's vectors lie along x.
TileFacts tile_facts(const ConvLoops &shape, int lanes, const Target &target, const Core &core);

// Whether several tiles of a block read a panel of weights in turn, and another panel follows. Tiles that are unrolled are one body.
bool shares_panels(const TileFacts &facts, const CpuTileKnobs &knobs);

// Whether the weights of a panel are several whole streams (CpuTile::streams).
bool has_streams(const TileFacts &facts, int64_t vectors);

// Whether several panels of weights read a block of pixels in turn, and another block follows. Threads compute blocks in
// order.
bool shares_blocks(const TileFacts &facts, const CpuTileKnobs &knobs);

// Whether a depthwise convolution is as fast as memory, beyond most of the L3 cache: few loads at a time, each walking
// through memory in order, are what prefetchers follow.
bool streams_depthwise(const TileFacts &facts);

// Of input and output of a depthwise convolution, in f32.
double activation_bytes(const ConvLoops &loops);

// Whether the taps of a depthwise window are so far apart that pixels of a tile have none in common, and all weights stay in L1 while a
// pixel passes. One pixel after the other reads as many streams as there are taps then, each in order. By races on a Zen 2 with AVX2.
bool passes_by_pixel(const TileFacts &facts);

struct RegisterTile {
    int64_t vectors = 1, pixels = 1, rows = 1;  // pixels: vectors of them, where vectors lie along x
    int64_t sums() const { return vectors * pixels * rows; }
};
inline RegisterTile register_tile(const CpuTileKnobs &k) { return {k.vectors, k.pixels, k.rows}; }

// Multiply-adds in the unrolled body of the innermost loop.
int64_t unrolled_steps(const ConvLoops &shape, const CpuTileKnobs &knobs);
// Whether they are more code than the instruction cache holds and a compiler finishes in
// seconds.
bool is_too_much_code(const ConvLoops &shape, const CpuTileKnobs &knobs);

bool fits_registers(const TileFacts &facts, const RegisterTile &tile, bool inline_sum);
// Whether the inputs that groups spread over lanes, if there are any, stay in registers beside the sums.
bool keeps_spread_inputs(const TileFacts &facts, const RegisterTile &tile);
// Whether dense vectors are shuffled within 128 bits. Such shuffles have their pattern in the instruction and read from
// memory; wider ones keep patterns in registers.
bool shuffles_in_place(const TileFacts &facts, const RegisterTile &tile);

// Whether a panel is a part of one group, or several whole ones.
bool keeps_to_groups(const TileFacts &facts, const RegisterTile &tile);

// Estimated cycles of the whole convolution in units that compare tiles.
double tile_cost(const TileFacts &facts, const RegisterTile &tile);

// Sums of a register tile that every candidate has: enough to hide most of the latency, where the domains allow.
int64_t fewest_sums(const TileFacts &facts, const CpuTileDomains &domains);

// Whether results are of so few dot products that they take about as long to requantize as to sum.
bool requantizes_often(const ConvLoops &shape);

// The tile with the least estimated cost, of the domains and as far as registers go. `inline_sum`: sums are written out.
RegisterTile cheapest_register_tile(const TileFacts &facts, const CpuTileDomains &domains, bool inline_sum);

// Whether blocks of `x_block` tiles compute no pixel twice that a block beside them computes, too. The last tile of a row is moved
// back onto the one before it, whose code may round otherwise: with threads, it would be chance which of the two is stored last.
bool blocks_are_apart(const TileFacts &facts, int64_t pixels, int64_t x_block);

// The default knobs: a function of the facts alone, chosen from the domains.
CpuTileKnobs default_tile_knobs(const TileFacts &facts, const CpuTileDomains &domains);
// The part of it for several threads: what they share. Precondition: all other knobs are chosen.
void split_over_threads(const TileFacts &facts, const CpuTileDomains &domains, CpuTileKnobs *knobs);

}  // namespace kiln
