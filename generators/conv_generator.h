// What the generators of convolutions share: the loops that their algorithm computes, and the knobs that schedule them.
#pragma once

#include "catalog/conv_rewrites.h"
#include "generators/kernel_generator.h"
#include "rewrites/conv_loops.h"
#include "schedules/fold_knobs.h"

namespace kiln {

template<typename Derived, typename TemplateKnobs>
class ConvGenerator : public KernelGenerator<Derived> {
protected:
    void read_convolution() {
        this->read_parameters();
        if (folds_input(this->candidate.algorithm)) {
            const auto both = *decode_knobs<FoldedKnobs<TemplateKnobs>>(this->candidate.knobs);
            fold_blocks = both.fold.blocks(), knobs = both.tile;
        } else {
            knobs = *decode_knobs<TemplateKnobs>(this->candidate.knobs);
        }
        loops = loops_of(this->candidate.algorithm, this->workload, this->target_of_kiln, fold_blocks);
    }

    TemplateKnobs knobs;
    Blocks fold_blocks{1, 1, 1};  // of pixels, where they are folded
    ConvLoops loops;
};

}  // namespace kiln
