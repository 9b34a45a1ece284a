// Where a kernel's temporaries live. Sizes are known when compiling, so places are, too, and nothing is allocated when the
// kernel runs:
//   variables   of which every element is read and written at an index that is a number: sums in registers
//   an array    on the stack: few bytes, and what a schedule puts there
//   the workspace of the caller: everything else
#pragma once

#include <Halide.h>

#include <cstdint>
#include <set>
#include <string>

namespace kiln {

enum class Storage { variables, stack, workspace };

// The buffers of a function whose every index is a number.
std::set<std::string> buffers_with_constant_indices(const Halide::Internal::Stmt &body);

struct StoredAllocation {
    Storage storage = Storage::variables;
    int64_t elements = 0, bytes = 0;
};
// `variables` bounds what sizes may depend on, such as loops; the largest of them is allocated.
StoredAllocation storage_of(const Halide::Internal::Allocate &allocation,
                            const Halide::Internal::Scope<Halide::Internal::Interval> &variables,
                            bool has_constant_indices);

}  // namespace kiln
