// What the generators of Winograd's and Strassen's convolutions and of their packed weights share: the facts, and the form of the weights.
#pragma once

#include <Halide.h>

#include <utility>
#include <vector>

#include "generators/conv_generator.h"
#include "schedules/spaces/winograd/winograd_knobs.h"
#include "schedules/spaces/winograd/winograd_rules.h"

namespace kiln {

template<typename Derived>
class ProductGenerator : public ConvGenerator<Derived, WinogradKnobs> {
protected:
    // Precondition: the convolution is read.
    void take_facts(WinogradFacts of) {
        facts = std::move(of);
        vectors = extent(this->knobs.vectors), panels = extent(this->knobs.panel_block);
    }

    // Extents of the packed weights, innermost first: lane, vector, ci, panel of a block, frequency, block.
    std::vector<int64_t> weight_extents() const {
        const int64_t blocks = (facts.output_vectors() + vectors * panels - 1) / (vectors * panels);
        return {facts.lanes, vectors, facts.summed_channels(), panels, facts.frequencies(), blocks};
    }

    Halide::Type weight_type() const { return this->knobs.demote >= 1 ? Halide::BFloat(16) : Halide::Float(32); }

    WinogradFacts facts;
    int vectors = 1, panels = 1;
};

}  // namespace kiln
