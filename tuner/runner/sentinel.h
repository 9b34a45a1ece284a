// Fixed pieces of work that are timed beside kernels: what they take says how fast the machine was just then.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "records/memory_state.h"

namespace kiln {

// The core's (drift.h): the median ns of a few short runs, 1 ms in all: multiply-adds on data in the L1 cache for the clock,
// and a walk through as much as the L2 cache holds for what neighbours leave of the shared ones.
double sentinel_ns();

// The memory's, for kernels whose data lies beyond the core's own caches: how fast the core reads it.
// Walks through the operands of a call, which are there anyway: making as much memory would take longer than the walk.
class MemorySentinel {
public:
    // At most so many of the bytes, which outlive this object.
    MemorySentinel(const std::vector<std::span<const std::byte>> &operands, size_t most_bytes);

    // Takes 2 to 4 ms for 2 MB, and 15 to 30 ms for 12 MB beside a neighbour, since each line is waited for. Single lines that
    // the CPU cannot evict leave the speed of the memory unknown.
    MemorySpeed measure() const;

private:
    std::vector<std::span<const std::byte>> walked_, evicted_;
};

}  // namespace kiln
