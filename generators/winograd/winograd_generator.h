// What the generators of Winograd convolutions and of their packed weights share: the matrices, and the form of the
// weights.
#pragma once

#include <Halide.h>

#include <algorithm>
#include <vector>

#include "catalog/winograd/winograd_algorithm.h"
#include "catalog/winograd_matrices.h"
#include "generators/conv_generator.h"
#include "rewrites/panels.h"
#include "schedules/spaces/winograd/winograd_knobs.h"
#include "schedules/spaces/winograd/winograd_rules.h"

namespace kiln {

template<typename Derived>
class WinogradGenerator : public ConvGenerator<Derived, WinogradKnobs> {
protected:
    // `parts`: channels that a lane multiplies at once and adds up.
    void read_winograd(int parts = 1) {
        this->read_convolution();
        facts = winograd_facts(gathered(this->loops), winograd_m(this->candidate.algorithm), this->target_of_kiln,
                               Core{}, parts);
        this->loops = facts.shape;  // rows may have been merged
        along_x = matrices(0), along_y = matrices(1);
        vectors = extent(this->knobs.vectors), panels = extent(this->knobs.panel_block);
        ax = along_x.a(), ay = along_y.a();
    }

    // Extents of the packed weights, innermost first: lane, vector, ci, panel of a block, frequency, block.
    std::vector<int64_t> weight_extents() const {
        const int64_t blocks = (facts.output_vectors() + vectors * panels - 1) / (vectors * panels);
        return {facts.lanes, vectors, facts.summed_channels(), panels, facts.frequencies(), blocks};
    }

    Halide::Type weight_type() const { return this->knobs.demote >= 1 ? Halide::BFloat(16) : Halide::Float(32); }

    WinogradFacts facts;
    WinogradMatrices along_x, along_y;
    int vectors = 1, panels = 1, ax = 1, ay = 1;

private:
    WinogradMatrices matrices(int d) const {
        const int m = extent(facts.m[d]), r = extent(this->loops.kernel[d]), count = m + r - 2;
        const int choice = std::min(extent(this->knobs.points), winograd_point_choices(count) - 1);
        return winograd_matrices(m, r, winograd_points(count, choice));
    }
};

}  // namespace kiln
