// What the generators of `direct`, `phases` and `input_phases` share with those of their packed weights.
#pragma once

#include "catalog/fold_algorithm.h"
#include "generators/conv_generator.h"
#include "schedules/folded_shape.h"

namespace kiln {

// `shape` is the shape as panels see it, of the whole convolution or of its phases.
template<typename Derived>
class PanelGenerator : public ConvGenerator<Derived> {
protected:
    void read_panels() {
        this->read_parameters();
        whole = this->shape;
        if (this->candidate.algorithm == "phases") this->shape = phase_shape(whole);
        if (this->candidate.algorithm == "input_phases") this->shape = input_phase_shape(whole);
        if (!is_fold(this->candidate.algorithm)) {
            knobs = *decode_knobs<CpuTileKnobs>(this->candidate.knobs);
        } else {
            const auto folded = *decode_knobs<FoldedKnobs<CpuTileKnobs>>(this->candidate.knobs);
            knobs = folded.tile, blocks = folded.fold.blocks();
            const bool prepared = this->candidate.algorithm == fold_prepared;
            this->shape = prepared ? prepared_shape(whole, blocks) : folded_shape(whole, blocks);
        }
        stored = this->shape;
        this->shape = panel_shape(gathered_shape(stored), this->panel_lanes());
    }

    CpuTileKnobs knobs;
    ConvShape whole;         // before it is taken apart into phases, or folded
    ConvShape stored;        // with the result's own layout
    Blocks blocks{1, 1, 1};  // of pixels, where they are folded
};

}  // namespace kiln
