// The ways to write the sum of a direct convolution. They are equal in what they compute; they differ in which loops
// there are and in what is loaded once for several products.
#pragma once

#include <Halide.h>

#include "rewrites/conv_loops.h"
#include "schedules/apply/cpu_tile.h"
#include "schedules/spaces/cpu_tile_knobs.h"

namespace kiln {

struct DirectSum {
    const ConvLoops &loops;  // as panels see them, with columns joined if the knobs say so
    const CpuTileKnobs &knobs;
    int lanes;
    // As PanelForm says. Of integers: part, lane, vector, step, panel (quantized_panel.h)
    Halide::Func weights;
    ConvStages &stages;  // has `padded`; gets the other stages of the sum
    // lane, vector, panel, and y where rows are skipped: what sums of integers begin with; undefined for those of f32
    Halide::Func first = {};
    // part, lane, vector, panel: the zero points of integer weights, if they have some. Numbers of a group's steps, or of a row where
    // columns are joined, are only those before `filled`: what fills the last step has the weight 0.
    Halide::Func points = {};
    int filled = 0;

    bool is_integer() const { return first.defined(); }
    int vectors() const { return static_cast<int>(knobs.vectors); }
    int rows() const { return static_cast<int>(knobs.rows); }
    int panel_width() const { return lanes * vectors(); }
    int panels_of_group() const { return static_cast<int>(loops.panels(panel_width()) / loops.groups); }
};

// The sum that belongs to channel c of block b at x, y, z, n, as the loops count channels.
Halide::Expr direct_sum(const DirectSum &sum);

}  // namespace kiln
