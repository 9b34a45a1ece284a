// Where a kernel's temporaries live. Sizes are known when compiling, so places are, too, and nothing is allocated when the
// kernel runs:
//   variables   of which every element is read and written at an index that is a number: sums in registers
//   an array    on the stack: few bytes, and what a schedule puts there
//   the workspace of the caller: everything else
#pragma once

#include <Halide.h>

#include <cstdint>
#include <set>

namespace kiln {

enum class Storage { variables, stack, workspace };

struct StoredAllocation {
    Storage storage = Storage::variables;
    int64_t elements = 0, bytes = 0;
    bool is_sized = false;     // by sizes at run time; elements and bytes are those of the layer at hand
    std::set<int64_t> loaded;  // elements that something reads, of variables
};
// `variables` bounds what sizes may depend on, such as loops; the largest of them is allocated. `layer` also has what sizes at run
// time are for the layer at hand.
using Bounds = Halide::Internal::Scope<Halide::Internal::Interval>;
StoredAllocation storage_of(const Halide::Internal::Allocate &allocation, const Bounds &variables, const Bounds &layer);

}  // namespace kiln
