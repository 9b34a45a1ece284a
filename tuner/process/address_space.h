// How much address space a child may be given. Where a user or a batch system sets a limit of its own (ulimit -v), no
// child can be allowed more.
#pragma once

#include <cstdint>
#include <limits>

namespace kiln {

inline constexpr int64_t unlimited_address_space = std::numeric_limits<int64_t>::max();

// The hard limit of this process in bytes, or unlimited_address_space.
int64_t most_address_space();

}  // namespace kiln
