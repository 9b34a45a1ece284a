// The spaces of the space-to-depth rewrite (rewrites/fold.h): those of the folded convolutions for every choice of
// blocks, as one with the blocks as knobs.
#pragma once

#include <functional>

#include "rewrites/fold.h"
#include "schedules/fold_knobs.h"
#include "schedules/space.h"

namespace kiln {

// The spaces of the folded convolutions as one. `space_of` answers that of one choice of blocks. Precondition: there
// are blocks.
Space folded_space(const Candidate &base, const ConvShape &whole, const std::function<Space(const Blocks &)> &space_of);

}  // namespace kiln
