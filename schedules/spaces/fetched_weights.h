// How far ahead weights are fetched (generators/passes/fetched_lines.h), of all templates that stream them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "workload/core.h"

namespace kiln {

// Fewer bytes are in a cache when they are read again.
inline constexpr double least_fetched_weights = 64 << 10;

// Kilobytes; 0: not at all. Less is late for memory, more drives out of the L1 cache what is read.
inline const std::vector<int64_t> fetched_kilobytes{0, 4, 8, 16};
inline constexpr int64_t usual_kilobytes = 8;

// Untuned. Weights of a whole network come from memory, though those of one layer may have stayed in the L2 cache; there a fetch
// costs next to nothing where some products share a load.
inline int64_t default_fetched_kilobytes(const std::vector<int64_t> &allowed, double weight_bytes,
                                         int64_t products_a_load, const Core &core) {
    const bool comes_late = weight_bytes > double(core.l2_bytes) / 8 && products_a_load >= 4;
    return comes_late && std::ranges::count(allowed, usual_kilobytes) > 0 ? usual_kilobytes : 0;
}

}  // namespace kiln
