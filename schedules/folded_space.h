// The space of the space-to-depth rewrite (rewrites/fold.h). Every choice of blocks gives a folded convolution with a space
// of its own. They are joined to one space, which has the blocks as knobs.
#pragma once

#include <functional>

#include "rewrites/fold.h"
#include "schedules/fold_knobs.h"
#include "schedules/space.h"

namespace kiln {

// The joined space. `space_of` answers the space for one choice of blocks. Precondition: there are blocks.
Space folded_space(const Candidate &base, const ConvShape &whole, const std::function<Space(const Blocks &)> &space_of);

}  // namespace kiln
