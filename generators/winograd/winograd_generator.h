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
#include "schedules/spaces/winograd_knobs.h"
#include "schedules/spaces/winograd_rules.h"

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

    // The loops of the sum at a frequency: steps of a vector of channels, vectors; of blocks of pixels also columns and rows of a
    // block; and the parts of a step, where it has several. At the last frequency, the one at infinity, a transformed kernel is its
    // last tap, so pixels without that tap have no products there.
    Halide::RDom summed_loops(const Halide::Expr &frequency) const {
        const int step = extent(facts.channel_step()), vectors_of_taps = extent(facts.summed_channels()) / step;
        const auto [x, y] = facts.pixels;
        std::vector<Halide::Range> loops{{0, step / facts.parts}, {0, vectors_of_taps}};
        if (facts.skips_pixels()) {
            loops[1] = {0, vectors_of_taps / extent(x.all * y.all)};
            loops.insert(loops.end(), {{0, extent(x.all)}, {0, extent(y.all)}});
        }
        if (facts.parts > 1) loops.emplace_back(0, facts.parts);
        Halide::RDom taps(loops, "taps");
        if (facts.skips_pixels()) {
            const auto reaches = [](const FoldedPixels &pixels, const Halide::Expr &at_infinity) {
                return select(at_infinity, extent(pixels.to_last_tap), extent(pixels.all));
            };
            taps.where(taps[2] < reaches(x, frequency % ax == ax - 1));
            taps.where(taps[3] < reaches(y, frequency / ax == ay - 1));
        }
        return taps;
    }

    // The vector of channels that a step of these loops reads.
    Halide::Expr summed_vector(const Halide::RDom &taps) const {
        if (!facts.skips_pixels()) return taps[1];
        const auto [x, y] = facts.pixels;
        const int of_pixel = extent(facts.summed_channels() / (facts.channel_step() * x.all * y.all));
        return (taps[3] * extent(x.all) + taps[2]) * of_pixel + taps[1];
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
