// Facts and rules of the template `cpu_tile` that both its space and its default follow: what a register tile costs,
// what fits where, which kind of convolution it is.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/machine.h"
#include "runtime/target.h"
#include "schedules/conv_shape.h"
#include "schedules/space.h"

namespace kiln {

struct TileFacts {
    ConvShape shape;
    int lanes = 1, registers = 16;  // of the target
    int64_t l1_bytes = 0, l2_bytes = 0;
    int threads = 1;

    // Every output has a channel of the input of its own.
    bool depthwise() const { return shape.groups > 1 && shape.input_channels == 1; }
    // Several groups share a vector: its lanes need different input channels.
    bool spreads() const { return shape.groups > 1 && !depthwise() && shape.group_outputs() % lanes != 0; }
    // Lanes read neighbouring channels, but those are not neighbours in the input's layout: a copy that makes them so
    // is part of every schedule.
    bool needs_copy() const {
        return shape.groups > 1 && shape.group_outputs() % lanes != 0 && shape.input_block % lanes != 0 &&
               shape.input_block != shape.all_input_channels();
    }
    int64_t channel_vectors() const;
};
TileFacts tile_facts(const ConvShape &shape, const Target &target, const Machine &machine);

struct RegisterTile {
    int64_t vectors = 1, pixels = 1, rows = 1;
    int64_t sums() const { return vectors * pixels * rows; }
};

// Independent sums that hide the latency of a multiply-add: 4 cycles, two started a cycle.
inline constexpr int64_t latency_sums = 8;

// Multiply-adds in the unrolled body of the innermost loop beyond which code leaves the instruction cache and compile
// times become seconds.
inline constexpr int64_t most_unrolled_steps = 4096;

bool fits_registers(const TileFacts &facts, const RegisterTile &tile, bool inline_sum);
int64_t unrolled_steps(const ConvShape &shape, const Knobs &knobs);
int64_t ceil_div(int64_t a, int64_t b);

// Estimated cycles of the whole convolution in units that compare tiles, for a core that starts two multiply-adds and
// two loads a cycle.
double tile_cost(const TileFacts &facts, const RegisterTile &tile);

// The default knobs: a function of the facts alone. `knobs` are the domains to choose from.
Knobs default_tile_knobs(const TileFacts &facts, const std::vector<Knob> &knobs);

}  // namespace kiln
