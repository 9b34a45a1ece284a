// What lies in a kiln_bound_network.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <string.h>

#include "runtime/call_contexts.h"
#include "runtime/network/network_table.h"

namespace kiln {

struct Bound {
    const kiln_network *network;  // first: the functions of kiln.h find it here
    size_t variant;
    const char *weights;

    const NetworkTable &table() const { return *static_cast<const NetworkTable *>(network->table); }
};
static_assert(sizeof(Bound) <= sizeof(kiln_bound_network));

inline Bound read_bound(const kiln_bound_network *bound) {
    Bound read;
    memcpy(&read, bound->memory, sizeof read);
    return read;
}

inline ArenaSizes arena_sizes(const NetworkVariant &variant) {
    return {variant.arena_bytes, variant.arena_bytes_per_thread};
}

// What a run needs, from any address on, or no_such_size. Precondition: is_valid_thread_count(threads).
inline size_t workspace_bytes(const NetworkVariant &variant, int threads) {
    size_t bytes = contexts_bytes(arena_sizes(variant), threads);
    const bool overflows = bytes == no_such_size || __builtin_add_overflow(bytes, variant.plan_bytes, &bytes) ||
                           __builtin_add_overflow(bytes, variant.scratch_bytes, &bytes) ||
                           __builtin_add_overflow(bytes, arena_alignment - 1, &bytes);
    return overflows ? no_such_size : bytes;
}

}  // namespace kiln
