// What the generator of depthwise sums of small integers shares with that of their packed weights: steps of columns
// (rewrites/column_steps.h), and behind the steps of each vector of channels the sums of their weights.
//
//   parts   input   packed weight
//   4       u8      i8
//   2       i16     i16
//
// Inputs are shifted to 0 to 255, as in generators/direct/quantized_panel.h.
//
// With `in_lanes`, the channels of a block of four vectors are dealt to them as two unpackings of bytes within 128 bits leave them:
// lane 4 l + i of vector v has channel 16 l + 4 v + i of its block.
#pragma once

#include <Halide.h>

#include <vector>

#include "catalog/depthwise_algorithm.h"
#include "generators/conv_generator.h"
#include "rewrites/column_steps.h"
#include "schedules/spaces/depthwise/step_tile_space.h"
#include "workload/division.h"

namespace kiln {

template<typename Derived>
class StepPanelGenerator : public ConvGenerator<Derived, StepTileKnobs> {
protected:
    void read_steps() {
        this->read_convolution();
        of_columns = column_steps(this->loops, column_parts(this->workload, this->target_of_kiln), this->knobs.share);
        lanes = vector_lanes(this->target_of_kiln);
    }

    int parts() const { return extent(of_columns.parts); }
    int groups() const { return extent(of_columns.groups); }
    int share() const { return extent(of_columns.share); }
    int panels() const { return extent(ceil_div(this->loops.output_channels, lanes)); }
    Halide::Type step_type() const { return parts() == 4 ? Halide::UInt(8) : Halide::Int(16); }
    Halide::Type weight_type() const { return parts() == 4 ? Halide::Int(8) : Halide::Int(16); }

    // Steps of a panel of weights: for each of the outputs that share, group, row and plane; the sum is the last.
    int steps() const { return share() * groups() * extent(this->loops.kernel[1] * this->loops.kernel[2]); }
    Halide::Expr step_of(const Halide::Expr &which, const Halide::Expr &group, const Halide::Expr &row,
                         const Halide::Expr &plane) const {
        return ((plane * extent(this->loops.kernel[1]) + row) * groups() + group) * share() + which;
    }
    // Extents of the packed weights, innermost first: part, lane, step, panel.
    std::vector<int64_t> packed_steps() const { return {parts(), lanes, steps() + 1, panels()}; }

    Halide::Expr channel_of_lane(const Halide::Expr &lane, const Halide::Expr &panel) const {
        const int64_t channels = this->loops.output_channels;
        if (this->knobs.in_lanes)
            return panel / vectors_in_lanes * in_lanes_channels() + lane / 4 * 16 + panel % vectors_in_lanes * 4 +
                   lane % 4;
        const Halide::Expr channel = panel * lanes + lane;
        return channels % lanes == 0 ? channel : min(channel, extent(channels - 1));
    }

    // The number of a sum among those of all panels, lane by lane.
    Halide::Expr sum_of_channel(const Halide::Expr &channel) const {
        const Halide::Expr in_block = channel % in_lanes_channels();
        const Halide::Expr lane = in_block / 16 * 4 + in_block % 4, vector = in_block % 16 / 4;
        return channel / in_lanes_channels() * in_lanes_channels() + vector * lanes + lane;
    }
    int in_lanes_channels() const { return vectors_in_lanes * lanes; }

    ColumnSteps of_columns;
    int lanes = 1;
};

}  // namespace kiln
