// What the generators of Strassen's products and of their packed weights share.
#pragma once

#include <Halide.h>

#include <vector>

#include "generators/conv_generator.h"
#include "schedules/spaces/winograd/winograd_knobs.h"
#include "schedules/spaces/winograd/winograd_rules.h"

namespace kiln {

template<typename Derived>
class StrassenGenerator : public ConvGenerator<Derived, WinogradKnobs> {
protected:
    void read_strassen() {
        this->read_convolution();
        facts = strassen_facts(this->loops, this->target_of_kiln, Core{});
        vectors = extent(this->knobs.vectors), panels = extent(this->knobs.panel_block);
    }

    // Extents of the packed weights, innermost first: lane, vector, ci, panel of a block, product, block.
    std::vector<int64_t> weight_extents() const {
        const int64_t blocks = (facts.output_vectors() + vectors * panels - 1) / (vectors * panels);
        return {facts.lanes, vectors, facts.summed_channels(), panels, strassen_products, blocks};
    }

    WinogradFacts facts;
    int vectors = 1, panels = 1;
};

}  // namespace kiln
