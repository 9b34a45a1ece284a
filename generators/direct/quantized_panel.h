// What the generators of quantized sums share with those of their packed weights: panels of steps of several channels
// (rewrites/parts.h), and behind the steps of each panel the sums of its weights: of all of them, or of each row of the kernel
// where rows in the padding are skipped.
//
//   parts   input   packed weight
//   4       u8      i8
//   2       i16     i16
//   1       u8      i16
//
// Inputs are shifted to 0 to 255. So sum (x - zero) * w = sum x' * w - zero' * sum w, where padding is zero', too.
#pragma once

#include <Halide.h>

#include <vector>

#include "generators/direct/panel_generator.h"

namespace kiln {

template<typename Derived>
class QuantizedPanelGenerator : public PanelGenerator<Derived> {
protected:
    using Expr = Halide::Expr;

    Halide::Type weight_type() const { return this->loops.parts == 4 ? Halide::Int(8) : Halide::Int(16); }
    Halide::Type input_type() const { return this->loops.parts == 2 ? Halide::Int(16) : Halide::UInt(8); }

    // Numbers of a group's steps that are channels, or columns and channels where columns are joined. Others fill the last step.
    int filled() const {
        const ConvLoops stated = conv_loops(this->workload);
        return extent(stated.input_channels * (this->loops.joined ? stated.kernel[0] : 1));
    }
    int steps() const { return extent(this->loops.input_channels * this->loops.taps()); }
    // Steps behind the last that hold a lane's sum of weights, in i32, piece by piece; and how many sums there are.
    int sum_steps() const { return 4 / (extent(this->loops.parts) * weight_type().bytes()); }
    int sums_of_lane() const { return this->knobs.skip_rows ? extent(this->loops.kernel[1]) : 1; }

    // Extents of the packed weights, innermost first: part, lane, vector, step, panel.
    std::vector<int64_t> packed_steps() const {
        const ConvLoops &l = this->loops;
        const int64_t all = steps() + sum_steps() * sums_of_lane();
        return {l.parts, this->lanes, this->knobs.vectors, all, l.panels(this->panel_width())};
    }

    // The output channel of a lane: in its row of panels, where rows are of one group or of all, and among all.
    struct OutputPlace {
        Expr in_row, group, in_group, channel;
        int row;
    };
    OutputPlace output_of(const Expr &lane, const Expr &vector, const Expr &panel) const {
        const ConvLoops &l = this->loops;
        const int outputs = extent(l.group_outputs()), width = this->panel_width();
        const int row = l.group_panels ? outputs : extent(l.output_channels), panels = (row + width - 1) / width;
        const Expr first = (l.group_panels ? panel % panels : panel) * width;
        const Expr in_row = first + vector * this->lanes + lane, known = min(in_row, row - 1);
        if (l.group_panels) {
            const Expr group = panel / panels;
            return {in_row, group, known, group * outputs + known, row};
        }
        return {in_row, known / outputs, known % outputs, known, row};
    }
};

}  // namespace kiln
