// The knobs of the schedule template `nest_tile`: one result, element by element, with or without a reduction.
//
// The loop nest, outermost first: loops of the result / rows of a step / the reduction / one step: rows x vectors of the
// innermost loop, in registers. Where the lanes are of the reduction, a step is one element of the result. Where operands are
// copied, all rows are inside of a step, and share what was copied for its columns.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/knobs.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct NestTile {
    // What the lanes of a vector are. 0: the innermost loop; 1: the innermost of the reduction; 2: the loop around the innermost one,
    // which is short and unrolled
    T lanes{0};
    T vectors{1};      // vectors in one step
    T rows{1};         // iterations of the loop around the innermost one in one step
    T unroll_over{0};  // 1: the reduction is unrolled
    T copied{
        0};  // 1: operands that the rows share and that are not contiguous in the innermost loop are copied, turned
    T together{0};   // 1: the vectors of a step are one long vector, so that what they share is loaded once
    T partition{0};  // 1: elements that read nothing outside of their operands have code of their own, without tests
    T parallel{0};   // loops from the outermost that threads share
};

using NestTileKnobs = NestTile<int64_t>;
using NestTileDomains = NestTile<std::vector<int64_t>>;

// Samples are drawn in this order, so that it decides what a seed means.
template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, NestTile<T> &k) {
    visit.needs("lanes", k.lanes);
    visit.needs("vectors", k.vectors);
    visit.needs("rows", k.rows);
    visit.may_lack("unroll_over", k.unroll_over);
    visit.may_lack("copied", k.copied);
    visit.may_lack("parallel", k.parallel);
    visit.may_lack("partition", k.partition);
    visit.may_lack("together", k.together);
}

}  // namespace kiln
