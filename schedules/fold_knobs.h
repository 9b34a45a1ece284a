// The knobs of a convolution over blocks of pixels (schedules/folded_space.h). They stand beside those of the template
// that schedules the folded convolution: `FoldedKnobs<CpuTileKnobs>` has both.
#pragma once

#include <cstdint>

#include "rewrites/fold.h"
#include "schedules/knobs.h"

namespace kiln {

struct FoldKnobs {
    int64_t block_w = 1, block_h = 1, block_d = 1;  // pixels of a block, which become channels

    Blocks blocks() const { return {block_w, block_h, block_d}; }
};

template<typename Visitor>
void visit_knobs(Visitor &visit, FoldKnobs &k) {
    visit.needs("block_w", k.block_w);
    visit.needs("block_h", k.block_h);
    visit.needs("block_d", k.block_d);
}

template<typename TemplateKnobs>
struct FoldedKnobs {
    FoldKnobs fold;
    TemplateKnobs tile;
};

template<typename Visitor, typename TemplateKnobs>
void visit_knobs(Visitor &visit, FoldedKnobs<TemplateKnobs> &k) {
    visit_knobs(visit, k.fold);
    visit_knobs(visit, k.tile);
}

}  // namespace kiln
