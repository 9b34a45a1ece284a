// Which caches a movement fits into, and how many of its tiles do. The defaults of all templates of movement follow from it.
#pragma once

#include <cstdint>
#include <vector>

#include "rewrites/movement.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

inline constexpr int64_t longest_block = 1024;  // tiles along one digit

// Elements of the target's longest vector.
int64_t most_lanes(const Movement &m, const Target &target);

// Whether operand and result do not fit into the caches.
bool is_far(const Movement &m, const Core &core);

// Whether a cache may keep all of the result.
bool may_stay_in_cache(const Movement &m);

// Bytes of L2 that a block may take.
int64_t quarter_of_l2(const Core &core);

// Few tiles of `size` that cover `extent`, as a power of two.
int64_t tiles_that_cover(int64_t extent, int64_t size, int64_t most = longest_block);

// As many tiles as `bytes` hold, each of `size` rows of `row_bytes`, as a power of two.
int64_t tiles_that_fit(int64_t bytes, int64_t size, int64_t row_bytes);

// Domains of knobs.
std::vector<int64_t> powers_of_two(int64_t first, int64_t last);
std::vector<int64_t> thread_choices(const Target &target);  // of `parallel`

}  // namespace kiln
