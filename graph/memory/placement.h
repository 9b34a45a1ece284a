// Offsets of buffers in one workspace.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/memory/buffers.h"

namespace kiln::graph {

struct Placement {
    std::vector<int64_t> offsets;  // by buffer, multiples of workspace_alignment
    int64_t bytes = 0;
};

// Buffers that are alive at the same step lie apart. `lower_bound` is what no placement can be smaller than; the search ends
// where it comes close.
Placement place(const std::vector<Buffer> &buffers, int64_t lower_bound);

}  // namespace kiln::graph
