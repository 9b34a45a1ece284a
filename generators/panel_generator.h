// What the generators of `direct`, `phases` and `input_phases` share with those of their packed weights.
#pragma once

#include "generators/conv_generator.h"

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
        stored = this->shape;
        this->shape = panel_shape(gathered_shape(stored), this->panel_lanes());
    }

    ConvShape whole;   // before it is taken apart into phases
    ConvShape stored;  // with the result's own layout
};

}  // namespace kiln
